/// Pushes of one activity in a row that came back unserved, for which it waits: one byte.
///
/// What the service says of the token itself (429) doubles the wait up to about a minute. Trouble with the service may be the
/// token's or everybody's: it does so only where others were served between two strikes. So a token that is always answered
/// with an error is hardly asked any more, and whoever merely was in flight in an outage goes on within seconds of its end.
struct Strikes: Equatable {
    /// Four bits each: how many, and in which spell of the service the last one came.
    private var bits: UInt8 = 0

    private static let countMax = 6
    private static let doubtfulMax = 2

    var count: Int { Int(bits & 15) }

    /// Since the last strike: another one, in this spell of the service, is the token's own.
    func othersWereServed(by spell: UInt8) -> Bool { count > 0 && spell != bits >> 4 }

    /// - Parameters:
    ///   - isOwn: the service has said that it is this token's.
    ///   - spell: the service's, now.
    /// - Returns: how long the activity waits, nanoseconds.
    mutating func add(isOwn: Bool = false, in spell: UInt8) -> Int64 {
        let wait = Int64(1_000_000_000) << Int64(count)
        let most = isOwn || othersWereServed(by: spell) ? Strikes.countMax : Strikes.doubtfulMax
        bits = UInt8(max(count, min(count + 1, most))) | spell << 4
        return wait
    }
}

/// Spells in which the service serves, told apart by the trouble between them.
struct ServiceSpells {
    /// 0…15, in turn.
    private(set) var number: UInt8 = 0
    private var isInTrouble = false

    mutating func noteTrouble() { isInTrouble = true }

    mutating func noteService() {
        guard isInTrouble else { return }
        isInTrouble = false
        number = (number + 1) & 15
    }
}
