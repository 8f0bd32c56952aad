import FanfareLog
import FanfareModel
import Foundation

/// People in memory with a reader in trouble: a test may stop it before a slice, let a slice fail, or damage a row.
///
/// `Sendable` is unchecked because a lock guards the people, and a test sets the trouble before a thread reads. `PeopleStore` has one thread at a
/// time, but an engine waits for its thread for five seconds only, and no lock of a folder keeps the next engine away here.
final class TroubledPeople: PeopleStore, @unchecked Sendable {
    private let people = MemoryPeopleStore()
    private let lock = NSLock()
    /// Called with each slice before it is read.
    var beforeSlice: (Int) throws(LogError) -> Void = { _ in }
    /// Serial of the row that cannot be read. The first card has serial 1.
    var damagedSerial: UInt64?

    var position: LogPosition { lock.withLock { people.position } }
    var nextSerial: UInt64 { lock.withLock { people.nextSerial } }

    func apply(_ changes: [PeopleChange], upTo position: LogPosition) throws(LogError) {
        lock.lock()
        defer { lock.unlock() }
        try people.apply(changes, upTo: position)
    }

    func card(_ key: CardKey) -> Card? { lock.withLock { people.card(key) } }
    func count(slice: Int) -> Int { lock.withLock { people.count(slice: slice) } }

    func read(
        slice: Int, from serial: UInt64,
        _ body: (CardKey, Result<Card, SerialError>) throws(LogError) -> Bool
    ) throws(LogError) {
        try beforeSlice(slice)
        lock.lock()
        defer { lock.unlock() }
        try people.read(slice: slice, from: serial) { (key, card) throws(LogError) in
            if key.serial == damagedSerial { return try body(key, .failure(.checksum)) }
            return try body(key, card)
        }
    }
}
