internal import Dispatch
package import FanfareLoop

/// Claims on their way from a loop to the disk, on a thread of their own: an alert waits for its claim, and for nothing else that the disk has
/// to do. Those that come during a commit are the next one. Confined to the loop's thread.
package final class ClaimQueue {
    private struct Request: Sendable {
        let claims: StoredClaims
        let ticket: UInt64
        let shard: Int
    }

    private struct State {
        var requests: [Request] = []
        var durable: [(Int, UInt64)] = []
        var lines: [String] = []
        var isClosed = false
    }

    private final class Shared: Sendable {
        let state = Locked(State())
        let work = DispatchSemaphore(value: 0)
        let closing = DispatchSemaphore(value: 0)
        let hasEnded = DispatchSemaphore(value: 0)
    }

    private let shared = Shared()
    private let wakeup: Wakeup
    /// Called on the loop when the claims of a shard up to that ticket are durable.
    package var onDurable: (_ ticket: UInt64, _ shard: Int) -> Void = { _, _ in }
    /// Called on the loop with lines for operators.
    package var onReport: (String) -> Void = { _ in }

    private static let retryWait = DispatchTimeInterval.seconds(1)

    /// - Parameter store: used by the queue's thread alone from here on.
    package init(_ store: any ClaimStore, loop: Loop) throws(LoopError) {
        var wake: () -> Void = {}
        wakeup = try Wakeup(loop: loop) { wake() }
        let signal = wakeup.signal
        do throws(LoopError) {
            try DetachedThread.run(name: "claims") { [shared] in
                ClaimQueue.run(store, shared) { signal.signal() }
            }
        } catch {
            wakeup.close()
            throw error
        }
        wake = { [unowned self] in hear() }
    }

    /// Makes claims durable; `onDurable` follows. Tickets of a shard count up.
    package func append(_ claims: StoredClaims, _ ticket: UInt64, shard: Int) {
        shared.state.withLock { $0.requests.append(Request(claims: claims, ticket: ticket, shard: shard)) }
        shared.work.signal()
    }

    /// Ends the thread after the commit that it is writing, and waits for it, because the folder may be used again.
    package func close(within seconds: Int = 5) {
        shared.state.withLock { $0.isClosed = true }
        shared.closing.signal()
        shared.work.signal()
        _ = shared.hasEnded.wait(timeout: .now() + .seconds(seconds))
        wakeup.close()
        // Their owners may own this queue.
        onDurable = { _, _ in }
        onReport = { _ in }
    }

    private func hear() {
        let (durable, lines) = shared.state.withLock { state in
            defer { (state.durable, state.lines) = ([], []) }
            return (state.durable, state.lines)
        }
        for line in lines { onReport(line) }
        // An answer covers all requests of its shard before it.
        for (shard, ticket) in Dictionary(durable, uniquingKeysWith: max) { onDurable(ticket, shard) }
    }

    private static func run(_ store: any ClaimStore, _ shared: Shared, _ wake: () -> Void) {
        defer {
            store.close()
            shared.hasEnded.signal()
        }
        while true {
            shared.work.wait()
            let (requests, isClosed) = shared.state.withLock { state in
                defer { state.requests = [] }
                return (state.requests, state.isClosed)
            }
            if isClosed { return }
            guard !requests.isEmpty else { continue }
            var hasFailed = false
            while true {
                do throws(LogError) {
                    try store.append(requests.map(\.claims))
                    break
                } catch {
                    if !hasFailed {
                        shared.state.withLock {
                            $0.lines.append("\(error); alerts wait for their claims, two seconds at most")
                        }
                        wake()
                    }
                    hasFailed = true
                }
                if shared.closing.wait(timeout: .now() + retryWait) == .success { return }
            }
            shared.state.withLock { $0.durable += requests.map { ($0.shard, $0.ticket) } }
            wake()
        }
    }
}
