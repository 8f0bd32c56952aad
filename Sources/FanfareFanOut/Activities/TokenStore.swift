/// Update tokens of a shard: opaque bytes of any length up to `tokenBytesMax`, back to back in one arena.
///
/// Space is allocated in units of 16 bytes, and freed space is kept in a list per size, so a day of rotations cannot make the
/// arena grow beyond the greatest size that was in use at one time. Tokens are secrets: nothing here prints them.
struct TokenStore {
    /// Maximum length of a token. Apple names none (spec §1); the longest seen is 80 bytes, and longer bytes than this are no token.
    static let tokenBytesMax = 512
    private static let unit = 16

    struct Reference {
        var start: UInt32 = 0  // in units
        var count: UInt16 = 0  // in bytes
    }

    private var arena: [UInt8] = []
    /// Result of the prefetch reads, which the optimiser would otherwise remove.
    private var fetched: UInt8 = 0
    private var free: [[UInt32]] = Array(repeating: [], count: tokenBytesMax / unit + 1)

    mutating func reserve(tokens: Int, bytesEach: Int) {
        arena.reserveCapacity(tokens * TokenStore.units(bytesEach) * TokenStore.unit)
    }

    /// Inserts a token, which must have 1 to `tokenBytesMax` bytes: commands are checked on arrival.
    mutating func insert(_ token: [UInt8]) -> Reference {
        let units = TokenStore.units(token.count)
        if let start = free[units].popLast() {
            let offset = Int(start) * TokenStore.unit
            arena.replaceSubrange(offset..<offset + token.count, with: token)
            return Reference(start: start, count: UInt16(token.count))
        }
        let start = UInt32(arena.count / TokenStore.unit)
        arena.append(contentsOf: token)
        arena.append(contentsOf: repeatElement(0, count: units * TokenStore.unit - token.count))
        return Reference(start: start, count: UInt16(token.count))
    }

    mutating func remove(_ reference: Reference) {
        free[TokenStore.units(Int(reference.count))].append(reference.start)
    }

    subscript(_ reference: Reference) -> ArraySlice<UInt8> {
        let offset = Int(reference.start) * TokenStore.unit
        return arena[offset..<offset + Int(reference.count)]
    }

    /// Appends the token's bytes. They are copied through a pointer, because a slice of the arena would cost a reference count per token,
    /// which is more expensive than the copy.
    func copy(_ reference: Reference, to bytes: inout [UInt8]) {
        let offset = Int(reference.start) * TokenStore.unit
        unsafe arena.withUnsafeBufferPointer {
            unsafe bytes.append(contentsOf: UnsafeBufferPointer(rebasing: $0[offset..<offset + Int(reference.count)]))
        }
    }

    /// Prefetches both ends of the tokens into the cache: all of a token of the usual size, which spans two lines at most.
    mutating func fetch(_ slots: ArraySlice<ActivitySlot>, _ activities: [Activity]) {
        var bytes: UInt8 = 0
        for slot in slots {
            let reference = activities[Int(slot.rawValue)].token
            let offset = Int(reference.start) * TokenStore.unit
            bytes ^= arena[offset] ^ arena[offset + Int(reference.count) - 1]
        }
        fetched = bytes
    }

    private static func units(_ bytes: Int) -> Int { (bytes + unit - 1) / unit }
}
