/// Fate of an alert for one activity, so that a backend can suppress its own notification (rule A3).
public enum AlertDisposition: Sendable, Hashable {
    /// The alert is in flight, or the next push will carry it as things stand.
    case planned
    /// APNs has accepted the alert.
    case accepted
    /// The activity gets, or got, the change without the alert.
    case silenced(Reason)
    /// The push with the alert got no answer, and the alert is not sent again; or the alert was settled before the first query, when the engine did
    /// not keep outcomes yet.
    case uncertain
    /// The activity does not exist or has ended.
    case noActivity

    /// Reason why an activity gets a change without its alert.
    public enum Reason: Sendable, Hashable {
        /// The person's preferences or the activity's limits; the update was sent silently.
        case preferences(Silence)
        /// A newer alert of the same or a higher class was sent instead.
        case superseded
        /// The alert's cause was withdrawn.
        case revoked
        /// The alert could not be delivered while it was fresh.
        case stale
        /// APNs refused the push with the alert for good.
        case refused
        /// The activity joined after the publication, and shows it.
        case cameLater
        /// The alert is not among the last eight of the activity's audience.
        case unknown
    }
}
