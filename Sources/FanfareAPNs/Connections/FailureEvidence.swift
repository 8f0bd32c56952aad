/// Cause for which a failure is evidence.
enum FailureEvidence: Equatable {
    /// The service or the connection: the activity has not failed before.
    case service
    /// The connection: the activity has failed on no other one.
    case connection
    /// The activity alone.
    case activity
}
