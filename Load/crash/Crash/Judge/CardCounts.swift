/// Counts of a card's pushes, which show what a run has met.
package struct CardCounts {
    package var pushes = 0
    package var starts = 0
    /// Confirmed starts, and those whose cards got an update in a later life than that of the confirmation.
    package var confirmations = 0
    package var confirmationsAfterRestarts = 0
    package var ends = 0
    package var endsAgain = 0
    package var alerts = 0
    /// Alerts that came again, because a full disk had taken no claims of them.
    package var alertsRepeated = 0
    /// States of alerts that came silently because their card wants no alerts, and those of them by preferences of an earlier life.
    package var silenced = 0
    package var silencedAfterRestarts = 0
    /// States sent again to those who have them, and the restarts of cards that were there before.
    package var superfluous = 0
    package var restartsOfCards = 0

    mutating func add(_ more: CardCounts) {
        pushes += more.pushes
        starts += more.starts
        confirmations += more.confirmations
        confirmationsAfterRestarts += more.confirmationsAfterRestarts
        ends += more.ends
        endsAgain += more.endsAgain
        alerts += more.alerts
        alertsRepeated += more.alertsRepeated
        silenced += more.silenced
        silencedAfterRestarts += more.silencedAfterRestarts
        superfluous += more.superfluous
        restartsOfCards += more.restartsOfCards
    }
}
