import FanfareLoop
import Synchronization

/// What one voice of the engine says, and everybody who listens to it. Listeners come and go on any thread; the core speaks, through a
/// `Speaker`.
final class Broadcast<Element: Sendable>: Sendable {
    /// Must return soon: the core calls it.
    typealias Listener = @Sendable (Element) -> Void

    private struct State {
        var listeners: [(number: Int, hear: Listener, end: @Sendable () -> Void)] = []
        var nextNumber = 0
        var isOver = false
        var early: [Element] = []
    }

    private let state = Locked(State())
    /// Counts changes of the listeners.
    fileprivate let version = Atomic(0)
    private let listenerCount = Atomic(0)
    /// Elements that are kept for the first listener, of those that are said before it comes.
    private let earlyMax: Int

    init(keepingEarly earlyMax: Int = 0) { self.earlyMax = earlyMax }

    /// - Parameter end: called when nothing more is said; at once where that is so already.
    /// - Returns: the listener's number.
    @discardableResult func add(_ hear: @escaping Listener, end: @escaping @Sendable () -> Void = {}) -> Int {
        let (number, isOver) = state.withLock { state in
            let number = state.nextNumber
            state.nextNumber += 1
            // Under the lock, so that what is said meanwhile comes later.
            for element in state.early { hear(element) }
            state.early = []
            if !state.isOver { state.listeners.append((number, hear, end)) }
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

    /// Nothing more is said.
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

    /// Whether somebody listens, at a glance: what is said a million times a second should cost nothing where nobody does.
    var isHeard: Bool { listenerCount.load(ordering: .relaxed) > 0 }

    fileprivate var listeners: [Listener] { state.withLock { $0.listeners.map(\.hear) } }

    /// - Returns: `false`: somebody has come to listen.
    fileprivate func keepEarly(_ element: Element) -> Bool {
        state.withLock { state in
            guard state.listeners.isEmpty else { return false }
            if state.early.count < earlyMax { state.early.append(element) }
            return true
        }
    }

    /// The core's end of a broadcast. A look at one number shows whether the listeners are still the same, so what is said takes no lock; and it
    /// is lent to the listeners, for a copy of a record costs more than all of this. Confined to the core's thread.
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
            for hear in listeners { hear(element) }
        }
    }
}
