import FanfareModel

/// Tenures of a topic whose id is used again and again: a table in a restaurant, a courier's next order.
extension Topic {
    /// Returns `true` if the event begins an ended topic afresh. A repeated start of the tenure that is over does not: it is older
    /// than the newest event, and no number contradicts that.
    func isStartOfAnotherTenure(_ event: FeedEvent) -> Bool {
        guard shown.ended, event.lifecycle == .start, rules.lifetime.reopens == .afresh else { return false }
        guard let newestAt = arrivals.newestAt, event.at <= newestAt else { return true }
        return fold.patchOrder.isNewer(seq: event.seq) ?? (newestAt - event.at <= rules.pace.lateAfter)
    }

    /// Recognises events of the previous tenure, delivered again or late, which do not concern the followers of this tenure. An old end of
    /// a topic that reuses its id is one of them if nothing else of the topic is known.
    ///
    /// - Returns: the reason why the event changes nothing; `nil` if it may change something.
    func reasonOfBefore(_ event: FeedEvent, now: FeedTime) -> String? {
        guard !event.isCorrection else { return nil }
        let began = arrivals.tenureBeganAt
        if event.at < began, began - event.at > rules.pace.lateAfter, fold.patchOrder.isNewer(seq: event.seq) != true {
            return "of the turn before: \((began - event.at).inSeconds) older than the start of this one"
        }
        if event.lifecycle == .end, rules.lifetime.reopens == .afresh, arrivals.newestAt == nil, shown.state == nil,
            now > event.at, now - event.at > Topic.behindMax
        {
            return "ended before it was shown, \((now - event.at).inSeconds) ago"
        }
        return nil
    }

    /// Maximum lag behind log time that is assumed of an unknown clock; equal to the maximum lead of a clock.
    private static let behindMax = FeedEvent.aheadMax
}
