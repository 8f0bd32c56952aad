import FanfareLoop
import Synchronization

/// Stream of one kind of announcement, with its listeners. Listeners come and go on any thread; the core announces through a `Speaker`.
final class Broadcast<Element: Sendable>: Sendable {
    /// Function that the core calls with each element, so it must return soon.
    typealias Listener = @Sendable (Element) -> Void

    private struct State {
        var listeners: [(number: Int, receive: Listener, end: @Sendable () -> Void)] = []
        var nextNumber = 0
        var isOver = false
        var early: [Element] = []
    }

    private let state = Locked(State())
    /// Number of changes to the list of listeners.
    fileprivate let version = Atomic(0)
    private let listenerCount = Atomic(0)
    /// Limit on elements that are kept for the first listener because they were announced before it came.
    private let earlyMax: Int

    init(keepingEarly earlyMax: Int = 0) { self.earlyMax = earlyMax }

    /// Adds a listener.
    ///
    /// - Parameter end: called after the last element; called at once if the broadcast is over.
    /// - Returns: the listener's number.
    @discardableResult func add(_ receive: @escaping Listener, end: @escaping @Sendable () -> Void = {}) -> Int {
        let (number, isOver) = state.withLock { state in
            let number = state.nextNumber
            state.nextNumber += 1
            // The lock is held, so that elements announced in the meantime come later.
            for element in state.early { receive(element) }
            state.early = []
            if !state.isOver { state.listeners.append((number, receive, end)) }
            listenerCount.store(state.listeners.count, ordering: .relaxed)
            return (number, state.isOver)
        }
        version.add(1, ordering: .releasing)
        if isOver { end() }
        return number
    }

    func remove(_ number: Int) {
        state.withLock { state in
            state.listeners.removeAll { $0.number == number }
            listenerCount.store(state.listeners.count, ordering: .relaxed)
        }
        version.add(1, ordering: .releasing)
    }

    /// Ends the broadcast and notifies the listeners.
    func finish() {
        let listeners = state.withLock { state in
            state.isOver = true
            defer { state.listeners = [] }
            listenerCount.store(0, ordering: .relaxed)
            return state.listeners
        }
        version.add(1, ordering: .releasing)
        for listener in listeners { listener.end() }
    }

    /// Is `true` while there are listeners. The check takes no lock, so an element sent a million times a second costs little without them.
    var hasListeners: Bool { listenerCount.load(ordering: .relaxed) > 0 }

    fileprivate var listeners: [Listener] { state.withLock { $0.listeners.map(\.receive) } }

    /// - Returns: `false` if a listener has come in the meantime.
    fileprivate func keepEarly(_ element: Element) -> Bool {
        state.withLock { state in
            guard state.listeners.isEmpty else { return false }
            if state.early.count < earlyMax { state.early.append(element) }
            return true
        }
    }

    /// Core's end of a broadcast. One counter shows if the listeners are unchanged, so an element without listeners costs no lock. The
    /// element is lent to the listeners, because a copy of a record costs more than all the rest. Confined to the core's thread.
    struct Speaker {
        private let broadcast: Broadcast
        private var version = -1
        private var listeners: [Listener] = []

        init(_ broadcast: Broadcast) { self.broadcast = broadcast }

        mutating func say(_ element: Element) {
            let current = broadcast.version.load(ordering: .acquiring)
            if current != version {
                version = current
                listeners = broadcast.listeners
            }
            if listeners.isEmpty {
                guard broadcast.earlyMax > 0, !broadcast.keepEarly(element) else { return }
                listeners = broadcast.listeners
            }
            for receive in listeners { receive(element) }
        }
    }
}
