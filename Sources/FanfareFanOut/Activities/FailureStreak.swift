import FanfareModel

/// Failed pushes of one activity in a row, for which it backs off: one byte.
///
/// A failure that the service ascribes to the token itself (429) doubles the wait up to about a minute. Trouble with the service may have another
/// cause than the token: it doubles the wait up to about a minute only if other pushes were served between two failures. So a token whose pushes all
/// fail gets few pushes, and an activity that merely had a push in flight in an outage goes on within seconds of its end.
struct FailureStreak: Equatable {
    /// Bits 0–3: the number of failures. 4–7: the service's spell at the last one.
    private var word: UInt8 = 0

    private static let countMax = 6
    private static let doubtfulMax = 2

    var count: Int { Int(word[bits: 0..<4]) }

    /// Returns whether other pushes were served since the last failure: a further failure in this spell of the service is the token's own.
    func othersWereServed(by spell: UInt8) -> Bool { count > 0 && spell != word[bits: 4..<8] }

    /// Adds a failure.
    ///
    /// - Parameters:
    ///   - isOwn: whether the service has ascribed it to this token.
    ///   - spell: the present spell of the service.
    /// - Returns: the activity's backoff.
    mutating func add(isOwn: Bool = false, in spell: UInt8) -> Duration {
        let wait = Duration.seconds(1 << count)
        let most = isOwn || othersWereServed(by: spell) ? FailureStreak.countMax : FailureStreak.doubtfulMax
        word[bits: 0..<4] = UInt8(max(count, min(count + 1, most)))
        word[bits: 4..<8] = spell
        return wait
    }
}

/// Counter of the spells in which the service serves; trouble separates them.
struct ServiceSpells {
    /// The present spell's number, 0 to 15; it wraps around.
    private(set) var number: UInt8 = 0
    private var isInTrouble = false

    mutating func noteTrouble() { isInTrouble = true }

    mutating func noteService() {
        guard isInTrouble else { return }
        isInTrouble = false
        number = (number + 1) & 15
    }
}
