import FanfareFanOut
import FanfareModel

/// A Live Activity on its phone, whose clock is right.
struct Card {
    enum Health {
        case well
        /// The token is answered as dead.
        case dead
        /// The token is answered with 503 for good.
        case sick
    }

    /// An alert that was published while the card showed its topic, and that has not been sent to the card.
    struct Missed {
        let alert: Alert
        let at: SeasonTime

        func isFresh(at now: SeasonTime) -> Bool { now < at + alert.freshFor }
    }

    let name: String
    let audience: AudienceKey
    let health: Health
    var beganAt: SeasonTime
    /// Person whose card is renewed when it grows old; `nil` for a card that is not renewed.
    var person: Int?
    /// Name of the card that this one is to replace.
    var renews: String?
    /// Is `true` when the app has reported the card's token.
    var isRegistered = true
    var leftAt: SeasonTime?
    /// Is `true` when the successor's token has been reported.
    var isReplaced = false
    /// Is `true` when the engine has reported the card's fate, which it does once.
    var isToldOf = false
    /// Time at which the last push failed for a reason of its own; it is retried some seconds later.
    var troubledAt: SeasonTime?
    var stamp: Int64 = 0
    /// State of the last push that arrived.
    var state: [UInt8] = []
    var missed: [Missed] = []

    var isRenewed: Bool { person != nil }

    /// Age at which the system has ended every card; includes the time of one lap of the engine's age scan.
    static let lifetime = Duration.seconds(8 * 3600 + 600)
    /// Age at which the engine ends a card, reduced by the second in which it counts; `renewAge` is that for renewals.
    private static let endAge = Duration.seconds(8 * 3600 - 601)
    private static let renewAge = Duration.seconds(7 * 3600 + 1799)

    func hasEnded(at now: SeasonTime) -> Bool { now - beganAt >= Card.lifetime }
    func isOld(at now: SeasonTime) -> Bool { now - beganAt >= Card.endAge }
    func mayBeRenewed(at now: SeasonTime) -> Bool { now - beganAt >= Card.renewAge }

    /// Is `true` in the quiet hours of people with renewed cards: from 21:00 to 7:00 local time they get essential alerts only.
    func isQuiet(at now: SeasonTime) -> Bool {
        guard isRenewed else { return false }
        let minute = (now.ofDay / 60_000 + Int64(Troubles.utcOffset(at: now))) % 1440
        return minute >= 21 * 60 || minute < 7 * 60
    }

    static func preferences(at now: SeasonTime) -> Preferences {
        Preferences(
            quietHours: Preferences.QuietHours(from: 21 * 60, until: 7 * 60, utcOffset: Troubles.utcOffset(at: now)))
    }

    /// Missed alert that is due now: the newest of the highest class.
    func alertDue(at now: SeasonTime) -> Alert? {
        var due: Alert?
        for missed in missed where missed.isFresh(at: now) && !isSilenced(missed.alert, at: now) {
            if let due, missed.alert.class < due.class { continue }
            due = missed.alert
        }
        return due
    }

    func isSilenced(_ alert: Alert, at now: SeasonTime) -> Bool { alert.class == .ordinary && isQuiet(at: now) }

    // MARK: Judging

    /// - Parameter newest: newest publication of the card's topic; `nil` if the card shows a lineup.
    /// - Returns: the fault of a push to this card, or `nil`.
    func judge(_ payload: Payload, newest: Publication?, at now: SeasonTime) -> String? {
        // No push reaches a sick card, not even its end: it is retried until the system has ended the card.
        guard health != .sick else { return nil }
        guard isRegistered else { return "a push to a card whose token nobody knows" }
        // Phones drop stamps that are half a minute old or more than eight hours ahead.
        guard (-30...8 * 3600).contains(payload.stamp - now.unixSeconds) else {
            return "its phone drops a push stamped \(payload.stamp - now.unixSeconds) s from now"
        }
        if payload.stamp < stamp { return "it has had a newer stamp" }
        if payload.stamp == stamp, payload.state != state { return "two states with one stamp" }
        if leftAt != nil { return payload.event == .end ? nil : "an update after an unfollow" }
        if let due = alertDue(at: now) {
            guard payload.alert == due.text else {
                return "it lacks alert \(due.text.title), and gets \(payload.alert?.title.description ?? "none")"
            }
        } else if let text = payload.alert {
            return "alert \(text.title), which it has had, or may not have"
        }
        guard case .topic = audience else { return nil }
        guard let newest else { return "a push of a topic that was forgotten" }
        // An old card gets updates until the age scan reaches it.
        guard (payload.event == .end) == (newest.event == .end) || payload.event == .end && isOld(at: now) else {
            return "its topic's newest version is \(newest.event), and the push is \(payload.event)"
        }
        let highlight = alertDue(at: now)?.highlight
        guard payload.state == highlight.map(newest.state.highlighting) ?? newest.state.bytes else {
            return "not the newest state: \(String(decoding: payload.state, as: UTF8.self))"
        }
        return nil
    }
}
