package import FanfareLoop
package import FanfareModel

/// Claims, completions and stamp ceilings on their way from a loop to the disk, on a thread of their own: an alert or a start waits for its claim,
/// and for no other work of the disk. Work that comes during a commit is the next commit. Confined to the loop's thread.
package final class ClaimQueue {
    private struct Request: Sendable {
        let claims: StoredClaims
        let ticket: UInt64
        /// `nil` for claims of the engine itself.
        let shard: Int?
    }

    private struct State {
        var requests: [Request] = []
        var completions = CompletionChanges()
        var stampCeiling: Int64?
        var durable: [(Int?, UInt64)] = []
        var lines: [String] = []
        var isClosed = false
    }

    private final class Shared: Sendable {
        let state = Locked(State())
        let thread = StoreThread()
        let meter = CommitMeter()
    }

    private let shared = Shared()
    private let wakeup: Wakeup
    /// Number of requests for claims that have no answer.
    private var waitingCount = 0
    /// Figures of the claims, for any thread.
    package var meter: CommitMeter { shared.meter }
    /// Called on the loop when the claims of a shard up to that ticket are durable.
    package var onDurable: (_ ticket: UInt64, _ shard: Int) -> Void = { _, _ in }
    /// Called on the loop when the claims of `name` are durable.
    package var onNamed: () -> Void = {}
    /// Called on the loop with lines for operators.
    package var onReport: (String) -> Void = { _ in }

    /// Completions in a commit, for which a claim waits some milliseconds.
    private static let completionsMax = 2048

    /// - Parameters:
    ///   - store: used by the queue's thread alone from here on.
    ///   - stamps: raised once a ceiling is durable.
    package init(_ store: any ClaimStore, stamps: StampCeiling, loop: Loop) throws(LoopError) {
        var wake: () -> Void = {}
        wakeup = try Wakeup(loop: loop) { wake() }
        let signal = wakeup.signal
        shared.meter.note(store.diskSize)
        do throws(LoopError) {
            try shared.thread.start(name: "claims") { [shared] in
                ClaimQueue.run(store, shared, stamps) { signal.signal() }
            }
        } catch {
            wakeup.close()
            throw error
        }
        wake = { [unowned self] in drainResults() }
    }

    /// Makes claims durable; `onDurable` follows. Tickets of a shard count up.
    package func append(_ claims: StoredClaims, _ ticket: UInt64, shard: Int) {
        noteWaiting(1)
        shared.state.withLock { $0.requests.append(Request(claims: claims, ticket: ticket, shard: shard)) }
        shared.thread.wake()
    }

    /// Makes the engine's own claims durable; `onNamed` follows.
    ///
    /// - Parameter claims: one at least.
    package func name(_ claims: [StoredClaims]) {
        noteWaiting(claims.count)
        shared.state.withLock { state in
            state.requests += claims.map { Request(claims: $0, ticket: 0, shard: nil) }
        }
        shared.thread.wake()
    }

    /// Makes changes of completions durable.
    ///
    /// - Parameter isPressing: `false` to let them wait for the next commit, unless they fill one.
    package func change(isPressing: Bool = true, _ change: (inout CompletionChanges) -> Void) {
        let count = shared.state.withLock { state in
            change(&state.completions)
            return state.completions.count
        }
        if isPressing || count >= ClaimQueue.completionsMax { shared.thread.wake() }
    }

    /// Makes durable that stamps up to this one may have been used.
    package func reserve(stampsThrough ceiling: Int64) {
        shared.state.withLock { $0.stampCeiling = max($0.stampCeiling ?? ceiling, ceiling) }
        shared.thread.wake()
    }

    /// Ends the thread once it has written the completions, if the disk takes them, and waits for it, because the folder may be used again.
    package func close(within timeout: Duration = .seconds(5)) {
        shared.state.withLock { $0.isClosed = true }
        shared.thread.close()
        shared.thread.join(within: timeout)
        wakeup.close()
        // No answer comes any more.
        noteWaiting(-waitingCount)
        // The closures' owners may own this queue.
        onDurable = { _, _ in }
        onNamed = {}
        onReport = { _ in }
    }

    private func noteWaiting(_ more: Int) {
        waitingCount += more
        shared.meter.noteWaiting(waitingCount)
    }

    private func drainResults() {
        let (durable, lines) = shared.state.withLock { state in
            defer { (state.durable, state.lines) = ([], []) }
            return (state.durable, state.lines)
        }
        noteWaiting(-durable.count)
        for line in lines { onReport(line) }
        // An answer covers all requests of its shard before it.
        for (shard, ticket) in Dictionary(durable, uniquingKeysWith: max) {
            if let shard { onDurable(ticket, shard) } else { onNamed() }
        }
    }

    private static func run(_ store: any ClaimStore, _ shared: Shared, _ stamps: StampCeiling, _ wake: () -> Void) {
        defer { store.close() }
        while true {
            shared.thread.waitForWork()
            var isClosed = false
            // One signal may stand for more completions than fit into a commit.
            while let work = shared.state.withLock({ state in
                isClosed = state.isClosed
                return take(from: &state, beyond: stamps.reserved)
            }) {
                guard commit(work, to: store, shared, wake) else { return }
                if let ceiling = work.stampCeiling { stamps.raise(to: ceiling) }
            }
            if isClosed { return }
        }
    }

    private struct Work {
        var requests: [Request]
        var completions: CompletionChanges
        var stampCeiling: Int64?
    }

    /// - Parameter durable: the durable stamp ceiling. A shard that is behind another one asks for less.
    private static func take(from state: inout State, beyond durable: Int64) -> Work? {
        // An unconfirmed claim lets no alert leave.
        if state.isClosed { state.requests = [] }
        let ceiling = state.stampCeiling.take().flatMap { $0 > durable ? $0 : nil }
        guard !state.requests.isEmpty || !state.completions.isEmpty || ceiling != nil else { return nil }
        defer { state.requests = [] }
        return Work(
            requests: state.requests, completions: state.completions.take(completionsMax), stampCeiling: ceiling)
    }

    /// - Returns: `false` if the queue was closed while the disk took nothing.
    private static func commit(
        _ work: Work, to store: any ClaimStore, _ shared: Shared, _ wake: () -> Void
    ) -> Bool {
        var work = work
        var hasFailed = false
        shared.meter.begin()
        while true {
            do throws(LogError) {
                try store.append(work.requests.map(\.claims), work.completions, stampCeiling: work.stampCeiling)
                break
            } catch {
                shared.meter.fail(error)
                // The log reports the disk, too; a waiting alert is worth a line of its own.
                if !hasFailed, !work.requests.isEmpty {
                    shared.state.withLock {
                        $0.lines.append(
                            "\(error); alerts wait for their claims, two seconds at most, and starts until it can be written"
                        )
                    }
                    wake()
                    hasFailed = true
                }
            }
            if shared.state.withLock(\.isClosed) || !shared.thread.waitToRetry() {
                shared.meter.giveUp()
                return false
            }
            // A claim that has come since goes with the next try.
            shared.state.withLock { state in
                work.requests += state.requests
                state.requests = []
            }
        }
        shared.meter.end()
        shared.meter.note(store.diskSize)
        guard !work.requests.isEmpty else { return true }
        shared.state.withLock { $0.durable += work.requests.map { ($0.shard, $0.ticket) } }
        wake()
        return true
    }
}
