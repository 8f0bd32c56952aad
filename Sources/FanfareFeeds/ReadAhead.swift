import Dispatch
import FanfareQueues
import FanfareThreads

/// Items that a thread has read and no task has taken yet. The thread waits while there are as many as the limit. Any thread.
final class ReadAhead<Item: Sendable>: Sendable {
    private struct State {
        var items = Queue<Item>()
        /// Is `true` once the last item has been read, or once no task is left that could take one.
        var isOver = false
        var nextNumber: UInt64 = 0
        /// Tasks that found no item, in the order of their calls.
        var waiting: [(number: UInt64, continuation: CheckedContinuation<Item?, Never>)] = []
        /// Numbers of tasks that were cancelled before they began to wait.
        var cancelled: Set<UInt64> = []
    }

    private let state = Locked(State())
    /// Begins at 0, because a semaphore that ends below its first value is a fatal error of Dispatch.
    private let room = DispatchSemaphore(value: 0)

    init(limit: Int) { for _ in 0..<limit { room.signal() } }

    /// Tasks that wait. For tests.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    // MARK: The reading thread

    /// Blocks until the last item has been read, or until an item has been read that nobody is left to take.
    ///
    /// - Parameter read: returns the next item; `nil` after the last one.
    func fill(_ read: () -> Item?) {
        while let item = read() {
            room.wait()
            guard put(item) else { return }
        }
        finish()
    }

    /// - Returns: `false` if nobody is left to take the item.
    private func put(_ item: Item) -> Bool {
        let (isWanted, task) = state.withLock { state -> (Bool, CheckedContinuation<Item?, Never>?) in
            if state.isOver { return (false, nil) }
            guard state.waiting.isEmpty else { return (true, state.waiting.removeFirst().continuation) }
            state.items.append(item)
            return (true, nil)
        }
        if let task {
            room.signal()
            task.resume(returning: item)
        }
        return isWanted
    }

    // MARK: Tasks

    /// Waits for the next item.
    ///
    /// - Returns: the item; `nil` after the last one and for a cancelled task, whose item the next call gets.
    func next() async -> Item? {
        guard !Task.isCancelled else { return nil }
        let (item, number) = take()
        guard let number else { return item }
        return await wait(as: number)
    }

    /// - Returns: the next item if it has been read, or the number of a wait for it; neither after the last item.
    private func take() -> (item: Item?, number: UInt64?) {
        let (item, number) = state.withLock { state -> (Item?, UInt64?) in
            if let item = state.items.popFirst() { return (item, nil) }
            state.nextNumber += 1
            return (nil, state.isOver ? nil : state.nextNumber)
        }
        if item != nil { room.signal() }
        return (item, number)
    }

    private func wait(as number: UInt64) async -> Item? {
        // The cancellation handler has ended here, so no cancellation of this wait can follow.
        defer { state.withLock { _ = $0.cancelled.remove(number) } }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in answer(continuation, number) }
        } onCancel: {
            let waiting = state.withLock { state -> CheckedContinuation<Item?, Never>? in
                guard let index = state.waiting.firstIndex(where: { $0.number == number }) else {
                    state.cancelled.insert(number)
                    return nil
                }
                return state.waiting.remove(at: index).continuation
            }
            waiting?.resume(returning: nil)
        }
    }

    /// Lets a task go on if it has an answer by now; otherwise the task waits.
    private func answer(_ continuation: CheckedContinuation<Item?, Never>, _ number: UInt64) {
        let (item, isAnswered) = state.withLock { state -> (Item?, Bool) in
            if state.cancelled.contains(number) { return (nil, true) }
            if let item = state.items.popFirst() { return (item, true) }
            if state.isOver { return (nil, true) }
            state.waiting.append((number, continuation))
            return (nil, false)
        }
        if item != nil { room.signal() }
        if isAnswered { continuation.resume(returning: item) }
    }

    /// Lets the reading thread end: nobody takes an item any more. A read that blocks ends first.
    func abandon() {
        finish()
        room.signal()
    }

    private func finish() {
        let waiting = state.withLock { state in
            state.isOver = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for one in waiting { one.continuation.resume(returning: nil) }
    }
}
