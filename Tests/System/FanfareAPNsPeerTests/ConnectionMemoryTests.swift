import APNsSimulator
import CountAllocations
import Dispatch
import FanfareAPNs
import FanfareFanOut
import FanfareLoop
import FanfareModel
import Testing

/// The memory that connections hold; a push allocates none.
@Suite(.enabled(if: allocations_are_counted(), "a sanitizer does its own counting")) struct ConnectionMemoryTests {
    /// A source of one token over and over, which stores nothing per push. Its loops count indices, because iterating allocates without
    /// the optimiser.
    private final class SteadySource: DeliverySource {
        private let payload = examplePayload()
        private let token = MemorySource.token(1)
        private var free = (0..<4096).map(UInt32.init)
        private(set) var accepted = 0
        private(set) var others = 0
        private let total: Int
        private var handedOut = 0
        var whenHalf: (() -> Void)?
        var whenDone: (() -> Void)?

        init(total: Int) { self.total = total }

        func pullByLot(_: UInt64, at moment: Moment, into batch: inout DeliveryBatch) {
            pull(limit: 1, at: moment, into: &batch)
        }

        func pull(limit: Int, at moment: Moment, into batch: inout DeliveryBatch) {
            let last = min(handedOut + limit, handedOut + free.count, total)
            while handedOut < last {
                batch.append(slot: ActivitySlot(free.removeLast()), generation: 1, payload: payload, token: token)
                handedOut += 1
            }
        }

        func complete(_ completions: [DeliveryCompletion], at moment: Moment) {
            var index = 0
            while index < completions.count {
                free.append(completions[index].slot.rawValue)
                if completions[index].outcome == .accepted { accepted += 1 } else { others += 1 }
                index += 1
            }
            if accepted + others >= total / 2, let whenHalf {
                self.whenHalf = nil
                whenHalf()
            }
            if accepted + others == total { whenDone?() }
        }
    }

    private struct Usage {
        /// Bytes that pool and source hold after all pushes.
        var bytesHeld: Int64 = 0
        /// Allocations during the second half of the pushes, except OpenSSL's own.
        var allocations: UInt64 = 0
        var allocationsByOpenSSL: UInt64 = 0
    }

    private func usage(connections: Int, total: Int) throws -> Usage {
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
        var usage = Usage()
        let source = SteadySource(total: total)
        // The server's thread may be delayed for any time.
        let time = LoopTime(goesOn: false)
        let pool = try ConnectionPool(
            loop: loop, source: source, credentials: credentials,
            configuration: PoolConfiguration(
                endpoint: Endpoint(host: "localhost", port: server.port, caFile: scratch.path("ca.pem")),
                bundleID: "com.example.app", connections: connections),
            clock: { time.now }, onReport: { Issue.record("\($0)") })
        func count() -> (ours: UInt64, openSSL: UInt64) {
            let openSSL = allocations_of_this_thread_by_openssl()
            return (allocations_of_this_thread() - openSSL, openSSL)
        }
        var atHalf = count()
        source.whenHalf = { atHalf = count() }
        source.whenDone = { [unowned pool] in
            let now = count()
            usage.bytesHeld = bytes_held_by_this_thread() - before
            usage.allocations = now.ours - atHalf.ours
            usage.allocationsByOpenSSL = now.openSSL - atHalf.openSSL
            pool.close { loop.stop() }
        }
        loop.run()
        #expect(source.accepted == total && source.others == 0)
        return usage
    }

    /// Checks the figure in ARCHITECTURE.md. Every connection has had all of its streams in use.
    @Test func aConnectionHoldsLessThanTwoMegabytes() throws {
        let few = try usage(connections: 1, total: 10_000).bytesHeld
        let many = try usage(connections: 5, total: 50_000).bytesHeld
        let each = (many - few) / 4
        #expect(each < 2_000_000, "\(each) bytes")
        #expect(each > 0)
    }

    #if DEBUG
    /// Allocations per push without the optimiser: each step of a loop over a collection allocates, and every push passes two such loops,
    /// one over the batch's requests and one over its events.
    private static let allocationsPerPush = 2.0
    #else
    private static let allocationsPerPush = 0.0
    #endif

    /// Counts from the pull to the completion, after a connection's buffers have grown. `make bench-apns` counts the optimised build's.
    @Test func aPushAsksForNoMemory() throws {
        let pushes = 40_000
        let usage = try usage(connections: 1, total: pushes)
        let each = Double(usage.allocations) / Double(pushes / 2)
        #expect(each < ConnectionMemoryTests.allocationsPerPush + 0.5)
        #expect(usage.allocationsByOpenSSL > 0, "nothing was counted")
    }
}

/// The fast simulator on a thread of its own, so that its allocations are not counted.
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
