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

/// What a restart sends of a topic with unfinished alerts: the newest version, and the alerts, the oldest first, for those whom they have not
/// reached.
package final class UnfinishedPublication: Sendable {
    package let publication: Publication
    package let alerts: [UnfinishedAlert]

    /// - Parameter publication: a publication without an alert.
    package init(_ publication: Publication, _ alerts: [UnfinishedAlert]) {
        self.publication = publication
        self.alerts = alerts
    }
}
