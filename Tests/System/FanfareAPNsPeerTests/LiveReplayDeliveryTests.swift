import APNsSimulator
import Dispatch
import FanfareFanOut
import FanfareLoop
import FanfareModel
import Foundation
import Synchronization
import Testing

@testable import Fanfare
@testable import FanfareReplay

/// The machine's clock is set during a live replay to followers. The simulator has a clock of its own, and refuses pushes that phones
/// would drop.
@Suite(.timeLimit(.minutes(5))) struct LiveReplayDeliveryTests {
    private static let people = 10

    /// A live replay on a thread of its own.
    private final class LiveReplay: Sendable {
        private let input = Pipe()
        /// Lead of the machine's clock.
        let aheadMilliseconds = Atomic<Int64>(0)
        private let result = Locked<Result<ReplaySummary, any Error>?>(nil)
        private let ended = DispatchSemaphore(value: 0)

        init(_ transport: TransportChoice) {
            let descriptor = dup(input.fileHandleForReading.fileDescriptor)
            Thread { [self] in
                var options = ReplayOptions(paths: ["-"])
                options.subscribers.count = LiveReplayDeliveryTests.people
                options.transport = transport
                let system = ClockSource.system
                options.clock = ClockSource(
                    wall: { [self] in
                        system.wall() + .milliseconds(aheadMilliseconds.load(ordering: .relaxed))
                    }, monotonic: system.monotonic)
                let result = Result {
                    try Replay(options, output: ReplayOutput(report: { _ in }), input: descriptor).run()
                }
                self.result.withLock { $0 = result }
                ended.signal()
            }.start()
        }

        /// Writes a line of the feed, with the time of a right clock.
        func tell(_ kind: String, _ values: String) {
            let now = Double(Clock.wallMilliseconds()) / 1000
            let line =
                #"{"topic":"match/1","topicKind":"football","at":\#(now),"id":"\#(kind)","kind":"\#(kind)","#
                + #""fact":{"id":"\#(kind)",\#(values)}}"#
            input.fileHandleForWriting.write(Data((line + "\n").utf8))
        }

        func end() throws -> ReplaySummary {
            input.fileHandleForWriting.closeFile()
            try #require(ended.wait(timeout: .now() + 120) == .success)
            return try #require(result.withLock { $0 }).get()
        }
    }

    /// Nothing follows the goal: no other event, and no corrected clock.
    @Test(arguments: [-3600, 3600]) func aGoalArrivesAtOnceThoughTheClockWasSet(seconds: Int64) throws {
        let scratch = try Scratch()
        try scratch.makeCertificates()
        let simulator = try RunningSimulator(scratch.simulatorOptions, dump: scratch.path("dump.ndjson"))
        let replay = LiveReplay(
            .apns(
                APNsOptions(
                    host: "localhost", port: simulator.port, caFile: scratch.path("ca.pem"),
                    keyFile: scratch.path("apns.p8"), keyID: "K123456789", teamID: "T123456789",
                    bundleID: "com.example.app")))
        replay.tell("period", #""period":"1H""#)
        try simulator.waitUntil(accepted: Self.people)
        replay.aheadMilliseconds.store(seconds * 1000, ordering: .relaxed)
        replay.tell("goal", #""side":"home""#)
        try simulator.waitUntil(accepted: 2 * Self.people)
        let summary = try replay.end()
        try simulator.stop()
        // States stamped by a clock that may have been wrong are sent once more, silently.
        #expect(summary.counts.pushes.accepted >= 2 * Self.people && summary.counts.pushes.refused == 0)
        #expect(summary.counts.alerts.accepted == 2 * Self.people, "kick-off and goal")
        #expect(summary.goals.count == 1 && summary.goals.allSatisfy { $0.secondsToLast != nil })
    }
}
