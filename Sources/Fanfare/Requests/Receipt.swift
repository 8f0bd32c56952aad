/// Confirmation that the engine has taken something: its place in the order of acceptance, and its durability.
///
/// Receipts of one engine are ordered by position. Positions begin at 1 in every engine.
public struct Receipt: Sendable, Hashable, Comparable {
    /// Protection of a taken command against loss.
    public enum Durability: UInt8, Sendable, Hashable, Comparable, CaseIterable {
        /// The command is in the process's memory and is lost with the process. An engine without a store gives no other durability.
        case memory
        /// The command is on its way to the store; none of its effects leaves the engine before it has arrived there.
        case prompt
        /// The command is in the store and survives the process and a power failure.
        case durable

        /// Returns `true` if `a` protects against fewer failures than `b`.
        public static func < (a: Durability, b: Durability) -> Bool { a.rawValue < b.rawValue }
    }

    /// Position of a command's entry in the store's log. It counts up over all runs, from 1.
    public struct EntryPosition: Sendable, Hashable, Comparable, CustomStringConvertible {
        /// The plain number, which `fanfare log` prints and takes.
        public let number: UInt64

        /// Creates a position for a program's tests, or from the number that a program has kept.
        public init(_ number: UInt64) { self.number = number }

        /// The number in decimal digits.
        public var description: String { "\(number)" }

        /// Returns `true` if `a`'s entry stands before `b`'s.
        public static func < (a: EntryPosition, b: EntryPosition) -> Bool { a.number < b.number }
    }

    /// Place in the single order in which the core takes commands from all threads. Counts up from 1, with gaps, because questions have places too. A
    /// repeated call has the place of the first call if this engine has taken that call, and a place of its own otherwise.
    public let position: UInt64
    /// Durability at the time the receipt was given.
    public let durability: Durability
    /// Position of the command's entry in the store's log; `nil` unless the command is durable and the log has an entry of it.
    public let entry: EntryPosition?
    /// Is `true` if a call with the same idempotency key was taken before: the repetition changes nothing, and the receipt is about the first call.
    /// The receipt of an `offer` always says `false`, because it comes before the engine knows.
    public let isRepeat: Bool

    /// Creates a receipt for a program's tests; the engine creates its own.
    public init(position: UInt64, durability: Durability, entry: EntryPosition? = nil, isRepeat: Bool = false) {
        self.position = position
        self.durability = durability
        self.entry = entry
        self.isRepeat = isRepeat
    }

    /// Returns `true` if the core takes `a`'s command before `b`'s. Receipts of different engines are not comparable.
    public static func < (a: Receipt, b: Receipt) -> Bool { a.position < b.position }
}
