/// What becomes of an alert for one activity, so that a backend's own notification can stay quiet (rule A3).
public enum AlertDisposition: Sendable, Hashable {
    /// It is on its way, or rides on the next push, as things stand.
    case planned
    /// The service has taken it.
    case accepted
    /// The activity gets, or got, the change without the alert.
    case silenced(Reason)
    /// It was sent, and no answer has come: it is not sent again. Also what was settled before anybody asked.
    case uncertain
    /// There is no such activity, or it has ended.
    case noActivity

    /// Why an activity gets a change without its alert.
    public enum Reason: Sendable, Hashable {
        /// By the person's preferences, or the activity's limits; the update came silently.
        case preferences(Silence)
        /// Another one went instead: newer, and of the same or a higher class.
        case superseded
        /// Its cause has been withdrawn.
        case revoked
        /// It could not be brought in time.
        case stale
        /// The push that carried it was refused for good.
        case refused
        /// The activity came when it had been published, and shows it.
        case cameLater
        /// None of the last eight alerts of what the activity shows.
        case unknown
    }
}
