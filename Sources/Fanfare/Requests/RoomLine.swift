import FanfareFanOut
import FanfareLoop
import Synchronization

/// Line of callers that wait for room in a full mailbox, in order of arrival, each with its element. The core pushes the elements into the
/// mailbox, so callers do not retry and later callers do not overtake earlier ones.
///
/// Every waiting caller gets exactly one answer: admitted, late, stopped or cancelled. Callers run on any thread; only the core calls `admit`
/// and `withdraw`.
final class RoomLine<Element: Sendable>: Sendable {
    enum Answer: Sendable, Equatable {
        /// The caller has room; the value is the position of its element, if it has one.
        case admitted(UInt64?)
        case late, stopped, cancelled
    }

    private struct Caller {
        /// Element to push; `nil` for a caller that only waits for room.
        let element: Element?
        /// Number of callers with an element, this one included; without meaning for a caller that has none.
        let arrival: UInt64
        let until: MonotonicTime
        let continuation: CheckedContinuation<Answer, Never>
    }

    private struct State {
        var callers: [UInt64: Caller] = [:]
        /// Numbers of callers in order of arrival, including some that are gone.
        var order: [UInt64] = []
        var arrivals: UInt64 = 0
        var isClosed = false
        /// Lower bound of all callers' deadlines.
        var earliest = MonotonicTime.never
        /// Numbers of callers that were cancelled before they began to wait.
        var cancelled: Set<UInt64> = []
    }

    private let state = Locked(State())
    private let waiting = Atomic(0)
    private let nextNumber = Atomic<UInt64>(0)

    /// Callers that wait. Any thread; a caller that arrives in the meantime wakes the core.
    var count: Int { waiting.load(ordering: .acquiring) }

    /// Number of callers with an element that have begun to wait so far.
    var arrivals: UInt64 { state.withLock { $0.arrivals } }

    /// Returns whether one of the first callers with an element still waits.
    ///
    /// - Parameter arrivals: number of these callers.
    func hasCaller(amongFirst arrivals: UInt64) -> Bool {
        guard count > 0 else { return false }
        return state.withLock { state in
            for number in state.order {
                if let caller = state.callers[number], caller.element != nil { return caller.arrival <= arrivals }
            }
            return false
        }
    }

    /// Numbers kept, including those of callers that are gone. For tests.
    var numbersKept: Int { state.withLock { $0.order.count + $0.cancelled.count } }

    /// Describes callers that have no place or two, a wrong count, or a deadline that would pass unseen; `nil` if there are none. For tests.
    func violation() -> String? {
        state.withLock { state -> String? in
            let callers = state.callers
            let places = state.order.filter { callers[$0] != nil }
            guard places.count == callers.count, Set(places).count == callers.count,
                waiting.load(ordering: .relaxed) == callers.count
            else { return "\(callers.count) callers have \(places.count) places in the line" }
            guard state.cancelled.isDisjoint(with: callers.keys) else { return "a caller waits, and was cancelled" }
            guard !state.isClosed || callers.isEmpty else { return "\(callers.count) callers wait in a closed line" }
            guard callers.values.allSatisfy({ $0.until >= state.earliest && $0.arrival <= state.arrivals }) else {
                return "a caller's deadline is before \(state.earliest), or the caller has not arrived"
            }
            return nil
        }
    }

    /// Waits behind the callers that wait already.
    ///
    /// - Parameters:
    ///   - element: element to push; `nil` for a caller that only waits for room.
    ///   - until: deadline of the wait.
    ///   - wake: makes the core take a turn.
    func wait(with element: Element?, until: MonotonicTime, wake: @Sendable () -> Void) async -> Answer {
        let number = nextNumber.add(1, ordering: .relaxed).newValue
        // The cancellation handler has ended here, so no cancellation of this caller can follow.
        defer { state.withLock { _ = $0.cancelled.remove(number) } }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let refusal = state.withLock { state -> Answer? in
                    if state.cancelled.remove(number) != nil { return .cancelled }
                    if state.isClosed { return .stopped }
                    if element != nil { state.arrivals += 1 }
                    state.callers[number] = Caller(
                        element: element, arrival: state.arrivals, until: until, continuation: continuation)
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

    /// Admits callers in order while there is room.
    ///
    /// - Parameters:
    ///   - room: greatest number of elements to push.
    ///   - push: pushes an element and returns its position; `nil` if there is no room after all.
    /// - Returns: `true` if any caller was admitted: callers without an element leave room for later callers.
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
        return !admitted.isEmpty
    }

    /// Answers callers whose deadline has passed with `late`.
    ///
    /// - Returns: latest time for the next call; `nil` if no caller has a deadline.
    func withdraw(at now: MonotonicTime) -> MonotonicTime? {
        guard count > 0 else { return nil }
        var late: [Caller] = []
        let next = state.withLock { state -> MonotonicTime in
            guard state.earliest <= now else { return state.earliest }
            for number in state.order where state.callers[number].map({ $0.until <= now }) ?? false {
                if let caller = remove(number, from: &state) { late.append(caller) }
            }
            state.earliest = state.callers.values.reduce(.never) { min($0, $1.until) }
            return state.earliest
        }
        for caller in late { caller.continuation.resume(returning: .late) }
        return next == .never ? nil : next
    }

    /// Answers all callers with `stopped`, and all later ones at once.
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
        // Numbers of callers that are gone must not accumulate behind one that waits.
        if state.order.count > 2 * state.callers.count + 64 {
            let callers = state.callers
            state.order.removeAll { callers[$0] == nil }
        }
        return caller
    }
}
