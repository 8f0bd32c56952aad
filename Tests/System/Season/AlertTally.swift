/// Counts of alerts, once for each card that showed the topic at the alert's publication.
struct AlertTally {
    var heard = 0
    /// Alerts replaced by a newer or weightier one, or stale after a trouble of the service.
    var overtaken = 0
    /// Alerts silenced by quiet hours.
    var silenced = 0
    /// Alerts sent on a connection that broke.
    var uncertain = 0
    /// Alerts whose fact was withdrawn, or whose card went, before the push.
    var dropped = 0
}
