import FanfareModel

/// Which turn an event is of, where a topic's id is used again and again: a table in a restaurant, a courier's next order.
extension Topic {
    /// Whether the event begins a topic afresh that has ended. A start of the turn that is over, delivered once more, does not: it is
    /// older than what has been heard since, and no number says otherwise.
    func isStartOfAnotherTurn(_ event: FeedEvent) -> Bool {
        guard shown.ended, event.lifecycle == .start, rules.reopens == .afresh else { return false }
        guard let newestAt = arrivals.newestAt, event.at <= newestAt else { return true }
        return fold.patchOrder.isNewer(seq: event.seq) ?? (newestAt - event.at <= rules.lateAfter)
    }

    /// An event of the turn before, delivered once more or late, is nothing to whoever follows this one. Nor is, of what has its id again
    /// and again, an end of long ago where nothing has been heard since: it ends whoever had the id before.
    ///
    /// - Returns: why it changes nothing; `nil`: it may.
    func reasonOfBefore(_ event: FeedEvent, now: FeedTime) -> String? {
        guard !event.isCorrection else { return nil }
        let began = arrivals.turnBeganAt
        if event.at < began, began - event.at > rules.lateAfter, fold.patchOrder.isNewer(seq: event.seq) != true {
            return "of the turn before: \((began - event.at).inSeconds) older than the start of this one"
        }
        if event.lifecycle == .end, rules.reopens == .afresh, arrivals.newestAt == nil, shown.state == nil,
            now > event.at, now - event.at > Topic.behindMax
        {
            return "ended before it was shown, \((now - event.at).inSeconds) ago"
        }
        return nil
    }

    /// No clock is taken to be further behind log time where nothing else is known of it: as far as one may be ahead.
    private static let behindMax = FeedEvent.aheadMax
}
