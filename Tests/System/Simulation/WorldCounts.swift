/// What a world has seen: one in which nothing happens proves nothing.
package struct WorldCounts: Sendable {
    package internal(set) var steps = 0
    /// Audits of the shards' parts: after steps, and in calms.
    package internal(set) var audits = 0
    /// Pushes judged, and how many of them had an alert.
    package internal(set) var pushes = 0
    package internal(set) var alerts = 0
    /// Alerts that name events of several topics.
    package internal(set) var joinedAlerts = 0
    /// Pushes caused only by a lineup's rotation.
    package internal(set) var rotations = 0
    /// Starts among the pushes, and renewals among the starts.
    package internal(set) var starts = 0
    package internal(set) var renewals = 0
    package internal(set) var troubles = TroublesMet()

    package init() {}

    package static func += (a: inout WorldCounts, b: WorldCounts) {
        a.steps += b.steps
        a.audits += b.audits
        a.pushes += b.pushes
        a.alerts += b.alerts
        a.joinedAlerts += b.joinedAlerts
        a.rotations += b.rotations
        a.starts += b.starts
        a.renewals += b.renewals
        a.troubles += b.troubles
    }
}
