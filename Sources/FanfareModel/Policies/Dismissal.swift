/// How long a card stays on the Lock Screen after its end (rule L3).
public enum Dismissal: Sendable, Hashable {
    /// The card goes as soon as the end has arrived.
    case immediate
    /// So long after the end; what is negative or longer than `longest` is taken to the nearer end.
    case after(Duration)
    /// When the table is free, the gate closes: in log time.
    case at(FeedTime)
    /// In proportion to how long the activity was: a sixth of it, at least 15 and at most 30 minutes.
    case proportional

    /// The system removes a card four hours after its end, whatever is asked.
    public static let longest = Duration.seconds(4 * 3600)

    /// - Parameter now: its end.
    package func duration(ofActivityLasting lasted: Duration, until now: FeedTime) -> Duration {
        switch self {
        case .immediate: .zero
        case .after(let duration): min(max(duration, .zero), Dismissal.longest)
        case .at(let date): min(max(date - now, .zero), Dismissal.longest)
        // Asked for each version, of the longest that there may be: a division by software.
        case .proportional where lasted >= .seconds(3 * 3600): .seconds(30 * 60)
        case .proportional: min(max(lasted / 6, .seconds(15 * 60)), .seconds(30 * 60))
        }
    }
}
