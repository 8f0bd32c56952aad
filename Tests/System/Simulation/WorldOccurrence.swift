/// What a world counts: one in which nothing happens proves nothing.
package enum WorldOccurrence: Int, CaseIterable, Sendable {
    case steps
    /// Audits of the shards' parts: after steps, and in calms.
    case audits
    /// Pushes judged, and how many of them had an alert.
    case pushes, alerts
    /// Alerts that name events of several topics.
    case joinedAlerts
    /// Pushes caused only by a lineup's rotation.
    case rotations
    /// Starts among the pushes, and renewals among the starts.
    case starts, renewals
}
