/// Time for which a card stays on the Lock Screen after its end (rule L3).
public enum Dismissal: Sendable, Hashable {
    /// Removes the card as soon as the end has arrived.
    case immediate
    /// Removes the card this long after the end, clamped to 0…`longest`.
    case after(Duration)
    /// Removes the card at a time, clamped to the `longest` after its end: when the table is free, the gate closes. The time is one of
    /// the wall clock if the feed is live, and of log time if it is recorded.
    case at(FeedTime)
    /// Removes the card after a sixth of the activity's duration, at least 15 and at most 30 minutes.
    case proportional

    /// Time after its end at which the system removes a card in any case: four hours.
    public static let longest = Duration.seconds(4 * 3600)
}
