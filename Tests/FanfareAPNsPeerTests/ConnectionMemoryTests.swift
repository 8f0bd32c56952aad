import APNsSimulator
import CountAllocations
import Dispatch
import FanfareAPNs
import FanfareCore
import FanfareLoop
import Testing

/// How often a push asks for memory depends on the optimiser: `make bench-apns` counts that. What is kept does not.
@Suite(.enabled(if: allocations_are_counted(), "a sanitizer does its own counting")) struct ConnectionMemoryTests {
    /// The same token over and over; keeps nothing for a push.
    private final class SteadySource: DeliverySource {
        private let payload = examplePayload()
        private let token = MemorySource.token(1)
        private var free = (0..<4096).map(UInt32.init)
        private(set) var accepted = 0
        private(set) var others = 0
        private let total: Int
        private var handedOut = 0
        var whenDone: (() -> Void)?

        init(total: Int) { self.total = total }

        func pull(limit: Int, at moment: Moment, into batch: inout DeliveryBatch) {
            for _ in 0..<min(limit, free.count, total - handedOut) {
                batch.append(slot: ActivitySlot(free.removeLast()), generation: 1, payload: payload, token: token)
                handedOut += 1
            }
        }

        func complete(_ completions: [Completion], at moment: Moment) {
            for completion in completions {
                free.append(completion.slot.rawValue)
                if completion.outcome == .accepted { accepted += 1 } else { others += 1 }
            }
            if accepted + others == total { whenDone?() }
        }
    }

    /// - Returns: the bytes that pool and source hold when all pushes are done.
    private func bytesHeld(connections: Int, total: Int) throws -> Int64 {
        let scratch = try Scratch()
        try scratch.makeCertificates()
        let server = try SimulatorThread(
            certificateFile: scratch.path("server.pem"), keyFile: scratch.path("server.key"))
        defer { server.stop() }
        let loop = try Loop()
        defer { loop.close() }
        let credentials = try ProviderToken(
            keyFile: scratch.path("apns.p8"), keyID: "K123456789", teamID: "T123456789")
        let before = bytes_held_by_this_thread()
        var held: Int64 = 0
        let source = SteadySource(total: total)
        let pool = try ConnectionPool(
            loop: loop, source: source, credentials: credentials,
            configuration: ConnectionPool.Configuration(
                endpoint: Endpoint(host: "localhost", port: server.port, caFile: scratch.path("ca.pem")),
                bundleID: "com.example.app", connections: connections),
            onReport: { Issue.record("\($0)") })
        source.whenDone = { [unowned pool] in
            held = bytes_held_by_this_thread() - before
            pool.close { loop.stop() }
        }
        loop.run()
        #expect(source.accepted == total && source.others == 0)
        return held
    }

    /// What ARCHITECTURE.md says. Every connection has had all of its streams in use.
    @Test func aConnectionHoldsLessThanTwoMegabytes() throws {
        let few = try bytesHeld(connections: 1, total: 10_000)
        let many = try bytesHeld(connections: 5, total: 50_000)
        let each = (many - few) / 4
        #expect(each < 2_000_000, "\(each) bytes")
        #expect(each > 0)
    }
}

/// The fast simulator on a thread of its own, so that what it allocates is not counted.
private final class SimulatorThread {
    /// Written once before the signal, read after the wait.
    private final class Started: @unchecked Sendable {
        let signal = DispatchSemaphore(value: 0)
        var result: Result<(port: UInt16, stop: WakeupSignal), any Error>?
    }

    let port: UInt16
    private let thread: LoopThread
    private let stopSignal: WakeupSignal

    init(certificateFile: String, keyFile: String) throws {
        let started = Started()
        thread = try LoopThread(name: "simulator") { loop in
            var options = SimulatorOptions()
            options.certificateFile = certificateFile
            options.keyFile = keyFile
            do {
                let simulator = try FastSimulator(options, loop: loop)
                let stop = try Wakeup(loop: loop) {
                    simulator.close()
                    loop.stop()
                }
                started.result = .success((simulator.port, stop.signal))
                started.signal.signal()
                loop.run()
            } catch {
                started.result = .failure(error)
                started.signal.signal()
            }
        }
        started.signal.wait()
        (port, stopSignal) = try #require(started.result).get()
    }

    func stop() {
        stopSignal.signal()
        thread.join()
    }
}
