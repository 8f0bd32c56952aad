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

    package func time(ofActivityLasting lasted: Duration) -> DismissalTime {
        switch self {
        case .immediate: .after(.zero)
        case .after(let duration): .after(min(max(duration, .zero), Dismissal.longest))
        case .at(let date): .at(date)
        // Shortcut, because every version computes it for the longest activity, and dividing a `Duration` is done in software.
        case .proportional where lasted >= .seconds(3 * 3600): .after(.seconds(30 * 60))
        case .proportional: .after(min(max(lasted / 6, .seconds(15 * 60)), .seconds(30 * 60)))
        }
    }
}
