import FanfareModel

extension Topic {
    /// Applies an operator's order. Changes that it releases wait for a flush that is due at once.
    ///
    /// - Returns: the record's reason.
    mutating func carryOut(_ operation: FeedEvent.Operation, for scope: OrderScope, now: FeedTime) -> String {
        switch operation {
        case .republish: return republish(now: now)
        case .reset: return reset()
        case .mute, .unmute, .pause, .resume: break
        }
        guard orders.apply(operation, for: scope) else { return "\(operation): was so already" }
        if operation == .resume, !orders.isPaused, !shown.ended, agenda.causes.count > 0 { agenda.flushAt = now }
        let isStillHeld = operation == .resume && orders.isPaused || operation == .unmute && orders.isMuted
        return "\(operation) by an operator" + (isStillHeld ? "; another order still holds" : "")
    }

    private mutating func reset() -> String {
        arrivals.reset(idsMax: limits.eventIDsMax)
        fold.resetOrder()
        shown.allowReopening()
        return "reset by an operator: its feed's times, numbers and ids count from here"
            + (shown.ended ? ", and it may begin again" : "")
    }

    private mutating func republish(now: FeedTime) -> String {
        guard !shown.ended else { return "republish: has ended" }
        guard shown.state != nil else { return "republish: has not been shown yet" }
        guard !orders.isPaused else { return "republish: paused by an operator" }
        agenda.republish(now: now)
        return "republish by an operator"
    }
}
