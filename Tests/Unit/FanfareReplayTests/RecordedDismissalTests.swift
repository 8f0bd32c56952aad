import Fanfare
import FanfareDecisions
import FanfareFanOut
import FanfareLoop
import FanfareModel
import FanfareTestSupport
import Foundation
import Testing

@testable import FanfareReplay

/// Rule L3: a date in the rules is one of log time if the feed is recorded, and log time may be years ago.
@Suite struct RecordedDismissalTests {
    /// A service that accepts every push, and notes the `dismissal-date` of each end.
    private final class NotingTransport: Transport {
        private let transport: WillingTransport
        private let dismissals: Locked<[FeedTime]>

        init(_ source: any DeliverySource, _ clock: @escaping () -> Moment, _ dismissals: Locked<[FeedTime]>) {
            transport = WillingTransport(source, clock)
            self.dismissals = dismissals
        }

        var isReady: Bool { transport.isReady }

        func workAvailable() {
            transport.workAvailable()
            let dates = transport.accepted.filter { $0.event == .end }.compactMap(\.dismissalDate)
            dismissals.withLock { $0 = dates }
        }

        func close(_ closed: @escaping () -> Void) { transport.close(closed) }
    }

    /// The order ends a minute after its beginning, when 29 minutes are left until the date.
    @Test func theDismissalDateOfARecordedFeedIsCountedFromThePush() throws {
        let path = NSTemporaryDirectory() + "fanfare-dismissal-\(UUID()).ndjson"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let feed =
            #"{"topic":"order/1","at":1600000000,"set":{"eta":5}}"# + "\n"
            + #"{"topic":"order/1","at":1600000060,"kind":"end"}"# + "\n"
        try feed.write(toFile: path, atomically: true, encoding: .utf8)
        var rules = TopicRules.generic
        rules.lifetime.dismissal = .at(FeedTime(seconds: 1_600_001_800))
        var options = ReplayOptions(paths: [path])
        options.rules = Rules(kinds: [:], other: rules)
        options.subscribers.count = 1
        // Filled on the shard's thread.
        let dismissals = Locked<[FeedTime]>([])
        let transports: [TransportFactory] = [
            { _, shard, context in NotingTransport(shard, context.clock, dismissals) }
        ]
        let replay = try Replay(
            options, output: ReplayOutput(report: { _ in }), input: STDIN_FILENO, transports: transports)
        let begun = options.clock.wall().milliseconds
        let summary = replay.run()
        let ended = options.clock.wall().milliseconds
        #expect(summary.isClean)
        let dates = dismissals.withLock { $0 }
        #expect(dates.count == 1)
        let date = try #require(dates.first)
        // A date has whole seconds, and the shard's clock may be a little beside the machine's.
        let pushedAt = date.milliseconds - 29 * 60_000
        #expect((begun - 2000...ended + 1000).contains(pushedAt), "\(date)")
    }
}
