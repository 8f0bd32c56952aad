/// Alert of an earlier process that may not have reached everybody, and may still leave.
package struct UnfinishedAlert: Sendable {
    package let alert: Alert
    /// Time that has passed since it was granted.
    package let age: Duration

    package init(_ alert: Alert, age: Duration) {
        self.alert = alert
        self.age = age
    }
}

/// What a restart sends of a topic: the newest version, to those who may lack it, and alerts for those whom they have not reached.
package final class ResumedPublication: Sendable {
    /// A publication without an alert.
    package let publication: Publication
    /// The oldest first.
    package let alerts: [UnfinishedAlert]
    /// Is `true` if those who were loaded as having the newest version have this one.
    package let isComplete: Bool

    package init(_ publication: Publication, _ alerts: [UnfinishedAlert], isComplete: Bool = false) {
        self.publication = publication
        self.alerts = alerts
        self.isComplete = isComplete
    }
}
