/// What a caller holds of something that the engine has taken: its place among all that was taken, and whether it outlives the process.
///
/// Receipts of one engine are ordered by their positions. An engine that is made anew begins at 1 again, as long as it keeps nothing.
public struct Receipt: Sendable, Hashable, Comparable {
    /// How much has to go wrong before what was taken is lost.
    public enum Durability: UInt8, Sendable, Hashable, Comparable, CaseIterable {
        /// It is in the process's memory, and gone with that. An engine without a store gives no other.
        case memory
        /// It is on its way to the store, and nothing that comes of it leaves before it is there.
        case prompt
        /// It is in the store: it outlives the process and the machine's power.
        case durable

        /// Whether less has to go wrong for `a` to be lost than for `b`.
        public static func < (a: Durability, b: Durability) -> Bool { a.rawValue < b.rawValue }
    }

    /// The place in the one order in which the core takes what all threads have handed in. Counts up from 1, with gaps: questions have
    /// places as well.
    public let position: UInt64
    /// As it was when the receipt was given.
    public let durability: Durability

    /// For programs that make up receipts, as tests do.
    public init(position: UInt64, durability: Durability) {
        self.position = position
        self.durability = durability
    }

    /// Whether the core takes `a` before `b`. Receipts of different engines do not compare.
    public static func < (a: Receipt, b: Receipt) -> Bool { a.position < b.position }
}
