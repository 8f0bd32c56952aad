import FanfareFanOut
import FanfareModel

/// A Live Activity as its phone has it. The phone's clock is right.
struct Card {
    enum Health {
        case well
        /// Its token is answered as dead.
        case dead
        /// Its token is answered 503 for good.
        case sick
    }

    /// An alert that was published while the card showed its topic, and that the card has not been sent yet.
    struct Missed {
        let alert: Alert
        let at: SeasonTime

        func isFresh(at now: SeasonTime) -> Bool { now < at + alert.freshFor }
    }

    let name: String
    let audience: AudienceKey
    let health: Health
    var beganAt: SeasonTime
    /// Whoever has the card renewed when it grows old.
    var person: Int?
    /// The name of the card that this one is to replace.
    var renews: String?
    /// The app has told the engine its token.
    var isRegistered = true
    var leftAt: SeasonTime?
    /// The card that renews it has told its token.
    var isReplaced = false
    /// The engine has said what became of it: once.
    var isToldOf = false
    /// Its last push was not taken, for a reason of its own: it is tried again some seconds later.
    var troubledAt: SeasonTime?
    var stamp: Int64 = 0
    /// What it shows: of the last push that has arrived.
    var state: [UInt8] = []
    var missed: [Missed] = []

    var isRenewed: Bool { person != nil }

    /// The system ends every card then; the engine may take one lap of its hand longer to notice.
    static let lifetime = Duration.seconds(8 * 3600 + 600)
    /// The engine ends a card of this age, or renews it before, give or take the second it counts in.
    private static let endAge = Duration.seconds(8 * 3600 - 601)
    private static let renewAge = Duration.seconds(7 * 3600 + 1799)

    func hasEnded(at now: SeasonTime) -> Bool { now - beganAt >= Card.lifetime }
    func isOld(at now: SeasonTime) -> Bool { now - beganAt >= Card.endAge }
    func mayBeRenewed(at now: SeasonTime) -> Bool { now - beganAt >= Card.renewAge }

    /// People with renewed cards sleep from nine in the evening to seven, by the clock on their wall, and hear essential alerts only.
    func isQuiet(at now: SeasonTime) -> Bool {
        guard isRenewed else { return false }
        let minute = (now.ofDay / 60_000 + Int64(Troubles.utcOffset(at: now))) % 1440
        return minute >= 21 * 60 || minute < 7 * 60
    }

    static func preferences(at now: SeasonTime) -> Preferences {
        Preferences(
            quietHours: Preferences.QuietHours(from: 21 * 60, until: 7 * 60, utcOffset: Troubles.utcOffset(at: now)))
    }

    /// Of the alerts that it missed and may have now: the newest of the highest class.
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

    /// - Parameter newest: of the card's topic; `nil` where the card shows a lineup.
    /// - Returns: what is wrong with a push to this card, or `nil`.
    func judge(_ payload: Payload, newest: Publication?, at now: SeasonTime) -> String? {
        // Nothing reaches it, the end of its topic neither: it is tried until the system has ended the card.
        guard health != .sick else { return nil }
        guard isRegistered else { return "a push to a card whose token nobody knows" }
        // Phones drop what is stamped half a minute before their time, or more than eight hours ahead of it.
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
        // Who is old gets updates until the engine's hand has come by.
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
