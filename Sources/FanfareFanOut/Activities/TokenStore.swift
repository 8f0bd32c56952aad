import FanfareModel
import FanfareQueues

/// Update tokens of a shard, each with the text of its activity's id, back to back in one arena. A token consists of opaque bytes, at most
/// `Subscription.tokenSizeMax` of them.
///
/// A text follows its token, after a byte with the text's length. Space is allocated in units of 8 bytes, so a text takes its length and at most 8
/// bytes more. Freed space is kept in a list per size: a day of rotations among tokens and texts of equal lengths makes the arena no larger than what
/// was in use at one time. Tokens are secrets: nothing here prints them.
struct TokenStore {
    /// Maximum size of a text that is kept: a byte's greatest number, less one, for which a text would be empty.
    static let textSizeMax = ByteCount.bytes(256)
    private static let unit = 8

    private var arena = GrowingColumn<UInt8>()
    /// Result of the prefetch reads, which the optimiser would otherwise remove.
    private var fetched: UInt8 = 0
    private var free: [SegmentedArray<UInt32>] = Array(
        repeating: SegmentedArray(), count: units(Subscription.tokenSizeMax.bytes + 1 + textSizeMax.bytes) + 1)

    /// - Parameter size: size of each token, with the text that follows it.
    mutating func reserve(tokens: Int, size: ByteCount) {
        arena.reserveCapacity(tokens * TokenStore.units(size.bytes) * TokenStore.unit)
    }

    /// Inserts a token, which must have at least one byte and at most `Subscription.tokenSizeMax`: commands are checked on arrival.
    ///
    /// - Parameter text: text of the activity's id; an empty one, and one larger than `textSizeMax`, is not kept.
    mutating func insert(_ token: [UInt8], text: String? = nil) -> TokenReference {
        let text = text.flatMap { (1...TokenStore.textSizeMax.bytes).contains($0.utf8.count) ? $0.utf8 : nil }
        let bytes = token.count + (text.map { 1 + $0.count } ?? 0)
        let units = TokenStore.units(bytes)
        let start: UInt32
        if let freed = free[units].popLast() {
            start = freed
        } else {
            start = UInt32(arena.count / TokenStore.unit)
            arena.append(repeating: 0, count: units * TokenStore.unit)
        }
        let offset = Int(start) * TokenStore.unit
        arena.replace(from: offset, by: token)
        if let text {
            let place = offset + token.count
            arena[place] = UInt8(text.count - 1)
            arena.replace(from: place + 1, by: text)
        }
        return TokenReference(start: start, count: token.count, hasText: text != nil)
    }

    mutating func remove(_ reference: TokenReference) {
        free[TokenStore.units(bytes(reference))].append(reference.start)
    }

    /// Size of the arena.
    var bytes: Int { arena.count }

    // For checks.
    /// Greatest number of bytes that one insertion has moved.
    var copiedBytesMax: Int { arena.copiedBytesMax }

    /// Returns a copy of the token.
    subscript(_ reference: TokenReference) -> ArraySlice<UInt8> {
        withExtendedLifetime(arena) { unsafe ArraySlice(arena.elements(places(reference))) }
    }

    /// Returns whether the token has these bytes.
    func isEqual(_ reference: TokenReference, to token: [UInt8]) -> Bool {
        withExtendedLifetime(arena) { unsafe arena.elements(places(reference)).elementsEqual(token) }
    }

    private func places(_ reference: TokenReference) -> Range<Int> {
        let offset = Int(reference.start) * TokenStore.unit
        return offset..<offset + reference.count
    }

    /// Returns the text of the activity's id; `nil` if it has none, or one larger than `textSizeMax`.
    func text(_ reference: TokenReference) -> String? {
        guard reference.hasText else { return nil }
        let place = Int(reference.start) * TokenStore.unit + reference.count
        let places = place + 1..<place + 2 + Int(arena[place])
        return withExtendedLifetime(arena) { unsafe String(decoding: arena.elements(places), as: UTF8.self) }
    }

    /// Bytes that were allocated for the token and its text.
    private func bytes(_ reference: TokenReference) -> Int {
        guard reference.hasText else { return reference.count }
        let place = Int(reference.start) * TokenStore.unit + reference.count
        return reference.count + 2 + Int(arena[place])
    }

    /// Appends the token's bytes. They are copied through a pointer, because a slice of the arena would cost a reference count per token,
    /// which is more expensive than the copy.
    func copy(_ reference: TokenReference, to bytes: inout [UInt8]) {
        unsafe bytes.append(contentsOf: arena.elements(places(reference)))
        withExtendedLifetime(arena) {}
    }

    /// Describes a place that two tokens share, or that belongs to none and is not free; `nil` if there is none.
    ///
    /// - Parameter references: of all tokens, each once.
    func violation(_ references: some Sequence<TokenReference>) -> String? {
        var isTaken = [Bool](repeating: false, count: arena.count / TokenStore.unit)
        let tokens = references.map { (start: $0.start, units: TokenStore.units(bytes($0))) }
        let gaps = free.enumerated().flatMap { units, starts in starts.map { (start: $0, units: units) } }
        for (start, units) in tokens + gaps {
            for place in Int(start)..<Int(start) + units {
                guard isTaken.indices.contains(place), !isTaken[place] else { return "two tokens stand at \(place)" }
                isTaken[place] = true
            }
        }
        return isTaken.contains(false) ? "a place for tokens is lost" : nil
    }

    /// Prefetches both ends of the tokens into the cache. A token of the usual size spans two cache lines, or three after some texts.
    mutating func fetch(_ slots: ArraySlice<ActivitySlot>, _ activities: GrowingColumn<Activity>) {
        var bytes: UInt8 = 0
        for slot in slots {
            let reference = activities[Int(slot.rawValue)].token
            let offset = Int(reference.start) * TokenStore.unit
            bytes ^= arena[offset] ^ arena[offset + reference.count - 1]
        }
        fetched = bytes
    }

    private static func units(_ bytes: Int) -> Int { (bytes + unit - 1) / unit }
}
