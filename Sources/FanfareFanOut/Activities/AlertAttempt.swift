import FanfareModel

/// The alert that a push carries or had to leave out, by version, the reason for leaving it out, and the charge for the push. Zero
/// means none of these.
struct AlertAttempt: Equatable {
    /// Bits 0–27: the version, with room for one a second for eight years. 28: the push was charged at priority 10. 29–31: the reason for
    /// leaving the alert out, or one of the numbers below.
    private var word: UInt32 = 0

    /// The push carries the alert.
    private static let sent: UInt32 = 5
    private static let refusal: UInt32 = 7

    static var none: AlertAttempt { AlertAttempt(reason: 0) }
    /// The push was refused, and its version is not to be sent again.
    static var refused: AlertAttempt { AlertAttempt(reason: refusal) }
    /// The push is charged for an alert that belongs to no version.
    static var paid: AlertAttempt { AlertAttempt(reason: sent) }

    private init(version: UInt32 = 0, reason: UInt32) {
        word[bits: 0..<28] = version
        word[bits: 29..<32] = reason
    }

    init(version: UInt32, silence: Silence?) {
        self.init(
            version: version, reason: silence.map { UInt32($0.rawValue) } ?? (version == 0 ? 0 : AlertAttempt.sent))
    }

    private var reason: UInt32 { word[bits: 29..<32] }

    var version: UInt32 { word[bits: 0..<28] }
    var silence: Silence? { Silence(rawValue: UInt8(reason)) }
    var isSent: Bool { version != 0 && isPaid }
    /// Is `true` when there is no alert.
    var isNone: Bool { version == 0 && silence == nil }

    /// Is `true` when the activity was charged for an alert.
    var isPaid: Bool { reason == AlertAttempt.sent }
    var isAtTen: Bool { word[bits: 28..<29] != 0 }

    /// Copy of the attempt with a charge at priority 10.
    var chargedAtTen: AlertAttempt {
        var charged = self
        charged.word[bits: 28..<29] = 1
        return charged
    }
    /// The charge of a push in flight to an activity that has left the audience, without its alert.
    var withoutAlert: AlertAttempt {
        let charge = AlertAttempt(reason: isPaid ? AlertAttempt.sent : 0)
        return isAtTen ? charge.chargedAtTen : charge
    }
}
