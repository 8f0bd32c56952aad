import FanfareModel

/// An alert that was decided a short while ago (`RecentAlerts`).
package struct RecentAlert {
    let topic: TopicID
    let alert: Alert
    /// Apps without the alert, because an operator had muted or paused them.
    var withheldFrom: [AppID] = []
}
