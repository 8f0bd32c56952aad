import FanfareLog
import FanfareModel
import FanfareQueues

/// Calls with idempotency keys: the core carries out one call of a key, and the others get its place.
extension CoreTurn {
    /// Carries out a call without a store.
    func carryOut(
        _ request: CoreRequest, under key: CallKey, _ answer: KeyedAcknowledgement?, _ now: FeedTime, _ moment: Moment
    ) {
        guard takes(key, answer, at: now, isDecided: true, else: { answer?(.repeated($0)) }) else { return }
        carryOut(request, now, moment)
        answer?(.taken(nil))
    }

    /// Makes a call an entry with its key.
    func hold(
        _ request: CoreRequest, under key: CallKey, _ answer: KeyedAcknowledgement?, through intake: Intake,
        _ now: FeedTime, _ wall: FeedTime
    ) {
        // The repeated call waits after the entry of the first call, so its answer comes once that entry is durable.
        let isChange = request.changesCard
        var isHeld = false
        let isNew = takes(key, answer, at: now, isDecided: false) {
            intake.hold(.repeated($0, answer, isChange: isChange))
            isHeld = true
        }
        guard isNew else {
            if isChange, !isHeld { inbox.noteChanged() }
            return
        }
        let acknowledge: EntryAcknowledgement = { entry in answer?(entry.map { .taken($0) } ?? .stopped) }
        switch request {
        case .event, .eventNow: hold(request, acknowledge, under: key, through: intake, now, wall)
        // A change of a card makes no entry of the log, but its key does.
        case .person(let entry, let change, _):
            intake.hold(
                Intake.Change(
                    entry: entry, request: change, acknowledge: nil,
                    key: (
                        LogEntry(now: now, key: key, .tick),
                        { entry, isKept in
                            answer?(entry.map { .taken(isKept ? $0 : nil) } ?? .stopped)
                        }
                    )), handedIn: inbox.requests.popped)
        default:
            hold(request, nil, under: nil, through: intake, now, wall)
            intake.hold(LogEntry(now: now, key: key, .tick), acknowledge)
        }
    }

    /// Answers a repeated call, after the entry of the first call.
    func answer(repeated call: KnownKeys.Call, _ answer: KeyedAcknowledgement?) {
        let first = core.keys.endWait(for: call)
        answer?(first.isDecided ? .repeated(first) : .stopped)
    }

    /// Finds a call's key.
    ///
    /// - Returns: `true` if the call is to be carried out.
    private func takes(
        _ key: CallKey, _ answer: KeyedAcknowledgement?, at now: FeedTime, isDecided: Bool,
        else isRepeated: (KnownKeys.Call) -> Void
    ) -> Bool {
        let dropped = core.keys.dropped
        let finding = core.keys.take(key, at: now, position: inbox.requests.popped, isDecided: isDecided)
        if core.keys.dropped > dropped {
            report(
                "more than \(KnownKeys.callsMax) calls with idempotency keys came within 24 hours, and the oldest keys are forgotten: a call "
                    + "that repeats one of them is carried out again")
        }
        switch finding {
        case .new: return true
        case .repeated(let call): isRepeated(call)
        case .differs(let call):
            guard answer == nil else {
                answer?(.differs(call))
                break
            }
            report(
                "a call has the idempotency key of another one with another content, so it is not carried out",
                with: ": key \(String(reflecting: key.key.description))")
        }
        return false
    }
}
