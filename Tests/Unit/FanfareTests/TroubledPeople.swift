import FanfareLog
import FanfareModel

/// People in memory with a reader in trouble: a test may stop it before a slice, let a slice fail, or damage a row.
///
/// `Sendable` is unchecked because `PeopleStore` confines it to one thread at a time; a test sets the trouble before that thread reads.
final class TroubledPeople: PeopleStore, @unchecked Sendable {
    let people = MemoryPeopleStore()
    /// Called with each slice before it is read.
    var beforeSlice: (Int) throws(LogError) -> Void = { _ in }
    /// Serial of the row that cannot be read. The first card has serial 1.
    var damagedSerial: UInt64?

    var position: LogPosition { people.position }
    var nextSerial: UInt64 { people.nextSerial }

    func apply(_ changes: [PeopleChange], upTo position: LogPosition) throws(LogError) {
        try people.apply(changes, upTo: position)
    }

    func card(_ key: CardKey) -> Card? { people.card(key) }
    func count(slice: Int) -> Int { people.count(slice: slice) }

    func read(
        slice: Int, from serial: UInt64,
        _ body: (CardKey, Result<Card, SerialError>) throws(LogError) -> Bool
    ) throws(LogError) {
        try beforeSlice(slice)
        try people.read(slice: slice, from: serial) { (key, card) throws(LogError) in
            if key.serial == damagedSerial { return try body(key, .failure(.checksum)) }
            return try body(key, card)
        }
    }
}
