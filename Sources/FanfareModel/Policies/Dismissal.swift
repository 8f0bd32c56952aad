/// Time for which a card stays on the Lock Screen after its end (rule L3).
public enum Dismissal: Sendable, Hashable {
    /// Removes the card as soon as the end has arrived.
    case immediate
    /// Removes the card this long after the end, clamped to 0…`longest`.
    case after(Duration)
    /// Removes the card at a log time: when the table is free, the gate closes.
    case at(FeedTime)
    /// Removes the card after a sixth of the activity's duration, at least 15 and at most 30 minutes.
    case proportional

    /// Time after its end at which the system removes a card in any case: four hours.
    public static let longest = Duration.seconds(4 * 3600)

    /// - Parameter now: log time of the activity's end.
    package func duration(ofActivityLasting lasted: Duration, until now: FeedTime) -> Duration {
        switch self {
        case .immediate: .zero
        case .after(let duration): min(max(duration, .zero), Dismissal.longest)
        case .at(let date): min(max(date - now, .zero), Dismissal.longest)
        // Shortcut, because every version computes it for the longest activity, and dividing a `Duration` is done in software.
        case .proportional where lasted >= .seconds(3 * 3600): .seconds(30 * 60)
        case .proportional: min(max(lasted / 6, .seconds(15 * 60)), .seconds(30 * 60))
        }
    }
}
