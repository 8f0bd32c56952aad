import FanfareFanOut
import FanfareLoop
import Synchronization

/// Callers that wait for room in a full mailbox, in the order in which they came, each with what it brings. The core puts that into the
/// mailbox for them, so nobody has to try again, and nobody who comes later goes first.
///
/// Every caller that waits gets exactly one answer: a place, or the end of its patience, of its task, or of the engine. Callers are any
/// thread's; `admit` and `withdraw` are the core's.
final class RoomLine<Element: Sendable>: Sendable {
    enum Answer: Sendable, Equatable {
        /// There is room; with the position of what the caller brought.
        case admitted(UInt64?)
        case late, stopped, cancelled
    }

    private struct Caller {
        /// `nil`: only wants to know of room.
        let element: Element?
        let until: Int64
        let continuation: CheckedContinuation<Answer, Never>
    }

    private struct State {
        var callers: [UInt64: Caller] = [:]
        /// Numbers of callers, some of whom are gone.
        var order: [UInt64] = []
        var isClosed = false
        /// No caller's patience ends before.
        var earliest = Int64.max
        /// Callers that were cancelled before they came to wait.
        var cancelled: Set<UInt64> = []
    }

    private let state = Locked(State())
    private let waiting = Atomic(0)
    private let nextNumber = Atomic<UInt64>(0)

    /// Callers that wait. Any thread; one that comes meanwhile has the core woken.
    var count: Int { waiting.load(ordering: .acquiring) }

    /// For tests: those who are gone and not forgotten included.
    var numbersKept: Int { state.withLock { $0.order.count + $0.cancelled.count } }

    /// Waits, behind those who wait already.
    ///
    /// - Parameters:
    ///   - element: what the caller brings; `nil`: only wants to know of room.
    ///   - until: the caller waits no longer than that, monotonic nanoseconds.
    ///   - wake: has the core take a turn.
    func wait(with element: Element?, until: Int64, wake: @Sendable () -> Void) async -> Answer {
        let number = nextNumber.add(1, ordering: .relaxed).newValue
        // Nobody cancels this caller any more when the handler is gone.
        defer { state.withLock { _ = $0.cancelled.remove(number) } }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let caller = Caller(element: element, until: until, continuation: continuation)
                let refusal = state.withLock { state -> Answer? in
                    if state.cancelled.remove(number) != nil { return .cancelled }
                    if state.isClosed { return .stopped }
                    state.callers[number] = caller
                    state.order.append(number)
                    state.earliest = min(state.earliest, until)
                    waiting.store(state.callers.count, ordering: .releasing)
                    return nil
                }
                if let refusal { continuation.resume(returning: refusal) } else { wake() }
            }
        } onCancel: {
            let caller = state.withLock { state -> Caller? in
                let caller = remove(number, from: &state)
                if caller == nil, !state.isClosed { state.cancelled.insert(number) }
                return caller
            }
            caller?.continuation.resume(returning: .cancelled)
        }
    }

    /// Gives the first callers their places, as long as there is room.
    ///
    /// - Parameters:
    ///   - room: elements that may be pushed.
    ///   - push: answers with the position; `nil`: there is no room after all.
    /// - Returns: whether anything was pushed.
    func admit(room: Int, push: (Element) -> UInt64?) -> Bool {
        guard count > 0, room > 0 else { return false }
        var admitted: [(Caller, UInt64?)] = []
        state.withLock { state in
            var taken = 0
            for number in state.order {
                if let caller = state.callers[number] {
                    guard admitted.count < room else { break }
                    var position: UInt64?
                    if let element = caller.element {
                        position = push(element)
                        guard position != nil else { break }
                    }
                    admitted.append((caller, position))
                    state.callers[number] = nil
                }
                taken += 1
            }
            state.order.removeFirst(taken)
            waiting.store(state.callers.count, ordering: .releasing)
        }
        for (caller, position) in admitted { caller.continuation.resume(returning: .admitted(position)) }
        return admitted.contains { $0.1 != nil }
    }

    /// Whose patience is at its end is told so.
    ///
    /// - Returns: when to come again, at the latest; `nil`: nobody's ends.
    func withdraw(at now: Int64) -> Int64? {
        guard count > 0 else { return nil }
        var late: [Caller] = []
        let next = state.withLock { state -> Int64 in
            guard state.earliest <= now else { return state.earliest }
            for number in state.order where state.callers[number].map({ $0.until <= now }) ?? false {
                if let caller = remove(number, from: &state) { late.append(caller) }
            }
            state.earliest = state.callers.values.reduce(.max) { min($0, $1.until) }
            return state.earliest
        }
        for caller in late { caller.continuation.resume(returning: .late) }
        return next == .max ? nil : next
    }

    /// Nobody is given room any more, and nobody waits from now on.
    func close() {
        let callers = state.withLock { state -> [Caller] in
            state.isClosed = true
            defer { state = State(isClosed: true) }
            waiting.store(0, ordering: .releasing)
            return state.order.compactMap { state.callers[$0] }
        }
        for caller in callers { caller.continuation.resume(returning: .stopped) }
    }

    private func remove(_ number: UInt64, from state: inout State) -> Caller? {
        guard let caller = state.callers.removeValue(forKey: number) else { return nil }
        waiting.store(state.callers.count, ordering: .releasing)
        // Numbers of those who are gone must not pile up behind one who waits.
        if state.order.count > 2 * state.callers.count + 64 {
            let callers = state.callers
            state.order.removeAll { callers[$0] == nil }
        }
        return caller
    }
}
