import FanfareLoop

/// Announcements of an engine from the creation of the sequence on, one element after the other: `for await record in engine.decisions()`.
///
/// Each sequence is a consumer with its own buffer, so a slow consumer neither delays the engine nor costs other consumers an element. A full
/// buffer drops its oldest element, and `lost` counts it. The sequence ends once the engine has stopped and the buffer is empty. Tasks that
/// iterate over one sequence, or over copies of it, share its elements; a cancelled task gets `nil`.
///
/// Any thread may use a sequence. The engine copies an element into each sequence, in constant time.
public struct EngineSequence<Element: Sendable>: AsyncSequence, Sendable {
    /// Iterator that takes elements from the sequence's buffer.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let consumer: Consumer<Element>

        /// Returns the next element; `nil` if the engine has stopped and the buffer is empty, or if the task is cancelled.
        ///
        /// - Complexity: O(1), apart from the wait.
        public mutating func next() async -> Element? { await consumer.buffer.next() }

        /// Returns the next element, on any actor; `nil` if the engine has stopped and the buffer is empty, or if the task is cancelled.
        ///
        /// - Complexity: O(1), apart from the wait.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(Never) -> Element? {
            await consumer.buffer.next()
        }
    }

    /// Iteration never fails.
    public typealias Failure = Never

    private let consumer: Consumer<Element>

    init(_ broadcast: Broadcast<Element>, buffering capacity: Int) {
        consumer = Consumer(broadcast, capacity: Swift.max(1, capacity))
    }

    /// Elements that this sequence has dropped because its buffer was full. Counts up.
    ///
    /// - Complexity: O(1).
    public var lost: Int { consumer.buffer.lost }

    /// Returns an iterator over the shared buffer.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(consumer: consumer) }
}

/// Listener that is registered while it is referenced.
private final class Consumer<Element: Sendable>: Sendable {
    let buffer: EventBuffer<Element>
    private let broadcast: Broadcast<Element>
    private let number: Int

    init(_ broadcast: Broadcast<Element>, capacity: Int) {
        let buffer = EventBuffer<Element>(capacity: capacity)
        self.buffer = buffer
        self.broadcast = broadcast
        number = broadcast.add({ buffer.put($0) }, end: { buffer.finish() })
    }

    deinit { broadcast.remove(number) }
}

/// Newest elements that a consumer has not taken yet, and tasks that wait for the next one. Any thread.
final class EventBuffer<Element: Sendable>: Sendable {
    private struct State {
        /// Ring that grows up to the capacity.
        var elements: [Element?] = []
        var first = 0
        var count = 0
        var lost = 0
        var isOver = false
        var nextNumber: UInt64 = 0
        var waiting: [(number: UInt64, continuation: CheckedContinuation<Element?, Never>)] = []
        /// Tasks that were cancelled before they began to wait.
        var cancelled: Set<UInt64> = []
    }

    private let state = Locked(State())
    private let capacity: Int

    /// - Parameter capacity: 1 or more.
    init(capacity: Int) { self.capacity = capacity }

    var lost: Int { state.withLock(\.lost) }

    func put(_ element: Element) {
        let waiting = state.withLock { state -> CheckedContinuation<Element?, Never>? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst().continuation }
            if state.count == capacity {
                state.lost += 1
                state.elements[state.first] = element
                state.first = (state.first + 1) % capacity
                return nil
            }
            if state.count == state.elements.count { EventBuffer.grow(&state, capacity) }
            state.elements[(state.first + state.count) % state.elements.count] = element
            state.count += 1
            return nil
        }
        waiting?.resume(returning: element)
    }

    private static func grow(_ state: inout State, _ capacity: Int) {
        let size = min(capacity, max(16, 2 * state.elements.count))
        let inOrder = Array(state.elements[state.first...] + state.elements[..<state.first])
        state.elements = inOrder + [Element?](repeating: nil, count: size - inOrder.count)
        state.first = 0
    }

    /// Ends the sequence after the elements in the buffer.
    func finish() {
        let waiting = state.withLock { state in
            state.isOver = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for one in waiting { one.continuation.resume(returning: nil) }
    }

    /// Waits for the next element.
    ///
    /// - Returns: the element; `nil` at the end and for a cancelled task.
    func next() async -> Element? {
        // A consumer that is slower than the core would otherwise never come to an empty buffer, where it waits.
        guard !Task.isCancelled else { return nil }
        let (element, number) = state.withLock { state -> (Element?, UInt64?) in
            if let element = EventBuffer.takeFirst(&state) { return (element, nil) }
            state.nextNumber += 1
            return (nil, state.isOver ? nil : state.nextNumber)
        }
        guard let number else { return element }
        return await wait(as: number)
    }

    private func wait(as number: UInt64) async -> Element? {
        // The cancellation handler has ended here, so no cancellation of this wait can follow.
        defer { state.withLock { _ = $0.cancelled.remove(number) } }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (element, isAnswered) = state.withLock { state -> (Element?, Bool) in
                    if state.cancelled.contains(number) { return (nil, true) }
                    if let element = EventBuffer.takeFirst(&state) { return (element, true) }
                    if state.isOver { return (nil, true) }
                    state.waiting.append((number, continuation))
                    return (nil, false)
                }
                if isAnswered { continuation.resume(returning: element) }
            }
        } onCancel: {
            let waiting = state.withLock { state -> CheckedContinuation<Element?, Never>? in
                guard let index = state.waiting.firstIndex(where: { $0.number == number }) else {
                    state.cancelled.insert(number)
                    return nil
                }
                return state.waiting.remove(at: index).continuation
            }
            waiting?.resume(returning: nil)
        }
    }

    private static func takeFirst(_ state: inout State) -> Element? {
        guard state.count > 0 else { return nil }
        let element = state.elements[state.first].take()
        state.first = (state.first + 1) % state.elements.count
        state.count -= 1
        return element
    }
}
