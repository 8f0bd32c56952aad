import Dispatch
import FanfareLoop
import FanfareQueues

/// Items that a thread has read and no task has taken yet. The thread stops while there are as many as the limit. Any thread.
final class ReadAhead<Item: Sendable>: Sendable {
    private struct State {
        var items = Queue<Item>()
        /// Is `true` once the last item has been read.
        var isOver = false
        /// Is `true` once no task is left that could take an item.
        var isAbandoned = false
        /// Tasks that found no item, in the order of their calls.
        var waiting = Queue<CheckedContinuation<Item?, Never>>()
    }

    private let state = Locked(State())
    /// Begins at 0, because a semaphore that ends below its first value is a fatal error of Dispatch.
    private let room = DispatchSemaphore(value: 0)

    init(limit: Int) { for _ in 0..<limit { room.signal() } }

    /// Blocks until the last item has been read, or until nobody is left to take one.
    ///
    /// - Parameter read: returns the next item; `nil` after the last one.
    func fill(_ read: () -> Item?) {
        while let item = read() {
            room.wait()
            guard put(item) else { return }
        }
        let waiting = state.withLock { state in
            state.isOver = true
            defer { state.waiting = Queue() }
            return state.waiting
        }
        for task in waiting.elements { task.resume(returning: nil) }
    }

    /// - Returns: `false` if nobody is left to take the item.
    private func put(_ item: Item) -> Bool {
        let (isWanted, task) = state.withLock { state -> (Bool, CheckedContinuation<Item?, Never>?) in
            if state.isAbandoned { return (false, nil) }
            if let task = state.waiting.popFirst() { return (true, task) }
            state.items.append(item)
            return (true, nil)
        }
        if let task {
            room.signal()
            task.resume(returning: item)
        }
        return isWanted
    }

    /// Waits for the next item.
    ///
    /// - Returns: the item; `nil` after the last one, and for a task that was cancelled before the call.
    func next() async -> Item? {
        guard !Task.isCancelled else { return nil }
        return await withCheckedContinuation { task in
            let (item, isAnswered) = state.withLock { state -> (Item?, Bool) in
                if let item = state.items.popFirst() { return (item, true) }
                if state.isOver { return (nil, true) }
                state.waiting.append(task)
                return (nil, false)
            }
            guard isAnswered else { return }
            room.signal()
            task.resume(returning: item)
        }
    }

    /// Lets the reading thread end: nobody will take an item any more.
    func abandon() {
        state.withLock { $0.isAbandoned = true }
        room.signal()
    }
}
