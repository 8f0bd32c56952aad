/// Alert of an earlier process that may not have reached all cards, and may still leave.
package struct UnfinishedAlert: Sendable {
    package let alert: Alert
    /// Time that has passed since it was granted.
    package let age: Duration

    package init(_ alert: Alert, age: Duration) {
        self.alert = alert
        self.age = age
    }
}

/// A topic's publication by a restart: the newest version for cards that may lack it, and alerts for cards that they have not reached.
package final class ResumedPublication: Sendable {
    /// A publication without an alert.
    package let publication: Publication
    /// Alerts, the oldest first.
    package let alerts: [UnfinishedAlert]
    /// Is `true` if cards that were loaded with the newest version have this one.
    package let isComplete: Bool
    /// Is `true` if lineups that were loaded with the newest versions of their topics show this one.
    package let isCompleteInLineups: Bool

    package init(
        _ publication: Publication, _ alerts: [UnfinishedAlert], isComplete: Bool = false,
        isCompleteInLineups: Bool = false
    ) {
        self.publication = publication
        self.alerts = alerts
        self.isComplete = isComplete
        self.isCompleteInLineups = isCompleteInLineups
    }
}
