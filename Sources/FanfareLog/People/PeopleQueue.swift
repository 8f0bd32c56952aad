package import FanfareLoop

/// Changes of cards between a loop and the disk: a thread of its own makes rows of them, so that no event waits for a row. Confined to the
/// loop's thread.
///
/// A failed write is retried each second without end: a full disk may be freed.
package final class PeopleQueue {
    private struct State {
        /// Changes that are to be written; `nil` if there are none.
        var entries: [PeopleEntry]?
        /// For each change of the last commit, if the store keeps it; `nil` until the commit is durable.
        var kept: [Bool]?
        var lines: [String] = []
        var isClosed = false
    }

    /// State that the thread shares with the owner.
    private final class Shared: Sendable {
        let state = Locked(State())
        let thread = StoreThread()
        let meter = CommitMeter()

        func note(_ register: PeopleRegister) { meter.note(register.diskSize, rows: register.cardCount) }
    }

    private let shared = Shared()
    private let wakeup: Wakeup
    private var isWriting = false
    /// Figures of the people, for any thread.
    package var meter: CommitMeter { shared.meter }
    /// Called on the loop when changes have become durable: for each of them, if the store keeps it.
    package var onDurable: ([Bool]) -> Void = { _ in }
    /// Called on the loop with lines for operators.
    package var onReport: (String) -> Void = { _ in }

    /// - Parameters:
    ///   - register: used by the queue's thread alone from here on.
    ///   - load: called on that thread before any write. Its argument waits until a failed read is to be retried, and receives a line for operators;
    ///     it returns `false` once the queue is closed.
    package init(
        _ register: PeopleRegister, loop: Loop,
        load: @escaping @Sendable (_ retry: (LogError) -> Bool) -> Void = { _ in }
    ) throws(LoopError) {
        var wake: () -> Void = {}
        wakeup = try Wakeup(loop: loop) { wake() }
        let signal = wakeup.signal
        shared.meter.note(register.diskSize)
        // The closure's captures must not live as long as the thread.
        let work = Locked(Optional(load))
        do throws(LoopError) {
            try shared.thread.start(name: "people") { [shared] in
                defer { register.close() }
                work.withLock { $0.take() }.map { PeopleQueue.load(by: $0, shared) { signal.signal() } }
                shared.note(register)
                PeopleQueue.run(register, shared) { signal.signal() }
            }
        } catch {
            wakeup.close()
            throw error
        }
        wake = { [unowned self] in drainResults() }
    }

    /// Makes changes durable; `onDurable` follows. Nothing else may be appended before that.
    package func append(_ entries: [PeopleEntry]) {
        guard !entries.isEmpty else { return }
        precondition(!isWriting, "changes are being made durable")
        isWriting = true
        shared.state.withLock { $0.entries = entries }
        shared.thread.wake()
    }

    /// Ends the thread after its present commit and waits for it, because the folder may be used again. Changes that are not durable yet are dropped.
    package func close(within timeout: Duration = .seconds(5)) {
        shared.state.withLock { $0.isClosed = true }
        shared.thread.close()
        shared.thread.join(within: timeout)
        drainResults()
        wakeup.close()
        // The closures' owners may own this queue.
        onDurable = { _ in }
        onReport = { _ in }
    }

    private func drainResults() {
        let (kept, lines) = shared.state.withLock { state in
            defer { (state.kept, state.lines) = (nil, []) }
            return (state.kept, state.lines)
        }
        for line in lines { onReport(line) }
        guard let kept else { return }
        isWriting = false
        onDurable(kept)
    }

    private static func load(
        by load: (_ retry: (LogError) -> Bool) -> Void, _ shared: Shared, _ wake: @escaping @Sendable () -> Void
    ) {
        load { error in
            shared.state.withLock {
                $0.lines.append(
                    "\(error); people behind that place wait until the store can be read, and those before it are served"
                )
            }
            wake()
            return shared.thread.waitToRetry()
        }
    }

    private static func run(_ register: PeopleRegister, _ shared: Shared, _ wake: @escaping @Sendable () -> Void) {
        while true {
            shared.thread.waitForWork()
            let (entries, isClosed) = shared.state.withLock { ($0.entries.take(), $0.isClosed) }
            if isClosed { return }
            guard let entries else { continue }
            guard write(entries, to: register, shared, wake) else { return }
            shared.state.withLock { $0.kept = register.kept }
            wake()
        }
    }

    /// - Returns: `false` if the queue was closed before the disk took the changes.
    private static func write(
        _ entries: [PeopleEntry], to register: PeopleRegister, _ shared: Shared, _ wake: @escaping @Sendable () -> Void
    ) -> Bool {
        func report(_ line: String) {
            shared.state.withLock { $0.lines.append(line) }
            wake()
        }
        var hasFailed = false
        shared.meter.begin()
        while true {
            do throws(LogError) {
                try register.apply(entries)
                shared.meter.end()
                shared.note(register)
                if hasFailed { report("the store takes changes of cards again") }
                return true
            } catch {
                shared.meter.fail(error)
                if !hasFailed { report("\(error); new changes of cards wait until it takes them, and events go on") }
                hasFailed = true
            }
            guard shared.thread.waitToRetry() else {
                shared.meter.giveUp()
                return false
            }
        }
    }
}
