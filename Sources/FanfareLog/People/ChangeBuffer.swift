import FanfareModel

/// Changed cards of a store of people that are on disk as a list, and not in the rows of their slices yet.
///
/// Cards that change at a time are far from each other, so each would cost a commit a page of its slice and one of the pages above it. In the list
/// they are side by side. A long list is merged into the slices in the order of keys, one part with each commit, so that several cards share a page.
/// The list knows nothing of inserted and removed cards; its rows of a removed card do not count.
///
/// Numbers are those of the list's rows, from 1 on, in the order of the changes; a card's newest one counts.
struct ChangeBuffer {
    /// Newest row of each card that is not merged, by the card's `CardKey.bits`.
    private var newest: [UInt64: UInt64] = [:]
    /// Rows of the list: from `first` on, before `next`.
    private(set) var first: UInt64
    private(set) var next: UInt64
    /// Cards of slices to be merged, the last slice first, and cards of the slice being merged, in descending order: sorted a slice at a time,
    /// because half a million take a tenth of a second.
    private var slices: [[UInt64]] = []
    private var merging: [UInt64] = []
    /// Number of the list's last row when the merge began.
    private var mergedThrough: UInt64
    /// Number of changed cards from which on they are merged.
    var mergeMin: Int

    /// Parts of a merge that go with a change, and rows of the list that are removed with it once all of them are merged.
    private static let mergedPerChange = 1.5
    private static let removedPerChange = 4
    /// Rows of the list per card of `mergeMin` at which they are merged, however few cards they have.
    private static let rowsMax: UInt64 = 2

    /// - Parameter first: number of the list's first row.
    init(from first: UInt64, mergeMin: Int) {
        (self.first, next, mergedThrough) = (first, first, first - 1)
        self.mergeMin = mergeMin
    }

    /// Number of cards that are not merged.
    var count: Int { newest.count }
    var isEmpty: Bool { first == next }
    /// Is `true` while nothing is being merged, and nothing that is merged is left in the list.
    private var isIdle: Bool { isMerged && first > mergedThrough }
    /// Is `true` unless cards are to be merged.
    private var isMerged: Bool { merging.isEmpty && slices.isEmpty }

    /// Returns the number of the row that a card has in the list; `nil` if the row of its slice counts.
    func number(of key: CardKey) -> UInt64? { newest.isEmpty ? nil : newest[key.bits] }

    /// Notes a row that is in the list, or comes to its end.
    ///
    /// - Returns: the row's number.
    @discardableResult mutating func append(_ key: CardKey) -> UInt64 {
        defer { next += 1 }
        newest[key.bits] = next
        return next
    }

    /// Notes a row that is in the list and of no card.
    mutating func appendUnknown() { next += 1 }

    /// Notes that a card is gone.
    mutating func remove(_ key: CardKey) { newest[key.bits] = nil }

    /// Removes and returns the cards to be merged beside a number of changes, and the numbers of their rows.
    mutating func takeMerged(besides changes: Int) -> [(key: CardKey, number: UInt64)] {
        if isDue { begin() }
        var merged: [(key: CardKey, number: UInt64)] = []
        var left = Int((Double(changes) * ChangeBuffer.mergedPerChange).rounded(.up))
        while left > 0, let bits = nextMerged() {
            left -= 1
            // The card may be gone.
            if let number = newest.removeValue(forKey: bits) { merged.append((CardKey(bits: bits), number)) }
        }
        return merged
    }

    private mutating func nextMerged() -> UInt64? {
        while merging.isEmpty, var slice = slices.popLast() {
            slice.sort(by: >)
            merging = slice
        }
        return merging.popLast()
    }

    /// Is `true` if the next changes begin a merge: the same few cards may change again and again, and cards may change once and go.
    var isDue: Bool { isIdle && (newest.count >= mergeMin || next - first >= ChangeBuffer.rowsMax * UInt64(mergeMin)) }

    /// Begins a merge of all cards, unless there is one.
    mutating func begin() {
        guard isIdle, !isEmpty else { return }
        slices = Array(repeating: [], count: Card.slices)
        for bits in newest.keys { slices[Card.slices - 1 - CardKey(bits: bits).slice].append(bits) }
        mergedThrough = next - 1
    }

    /// Returns the rows of merged cards to be removed from the list beside a number of changes.
    mutating func takeRemoved(besides changes: Int) -> Range<UInt64> {
        guard isMerged, first <= mergedThrough else { return first..<first }
        let end = min(mergedThrough + 1, first + UInt64(changes * ChangeBuffer.removedPerChange))
        defer { first = end }
        return first..<end
    }

    /// Describes a card whose newest row is not in the list, or leaves the list without being merged; `nil` if there is none.
    func violation() -> String? {
        guard first <= next, mergedThrough < next else {
            return "rows from \(first) on before \(next), merged through \(mergedThrough)"
        }
        guard newest.values.allSatisfy({ (first..<next).contains($0) }), Set(newest.values).count == newest.count else {
            return "a card's newest row is not in the list, or another card's"
        }
        let waiting = Set(merging).union(slices.joined())
        guard newest.allSatisfy({ $0.value > mergedThrough || waiting.contains($0.key) }) else {
            return "a card is not merged, and its row goes with those that are"
        }
        return nil
    }
}

/// Row of the list: a changed card, as its slice will have it.
package struct ChangedCard: Equatable {
    private static let keyBytes = MemoryLayout<UInt64>.size
    private static let checksumBytes = MemoryLayout<UInt32>.size

    let key: CardKey
    /// Serial form of the card, with its own checksum, which does not cover the slice.
    let card: [UInt8]

    init(key: CardKey, card: [UInt8]) { (self.key, self.card) = (key, card) }

    /// Reads a row; `nil` if it was damaged, or is not the row with that number.
    package init?(_ row: [UInt8], number: UInt64) {
        guard var reader = try? SerialReader(sealed: row, at: number), let bits = try? reader.fixed64() else {
            return nil
        }
        self.init(
            key: CardKey(bits: bits), card: Array(row[ChangedCard.keyBytes..<row.count - ChangedCard.checksumBytes]))
    }

    package func row(number: UInt64) -> [UInt8] {
        var writer = SerialWriter()
        writer.write(fixed: key.bits)
        return LogEntry.sealed((writer.bytes + card)[...], at: number)
    }
}

extension CardKey {
    private static let serialBits: UInt64 = 58

    /// The key in 64 bits, in the order of slices and serials.
    var bits: UInt64 { UInt64(slice) << CardKey.serialBits | serial }

    init(bits: UInt64) {
        self.init(slice: Int(bits >> CardKey.serialBits), serial: bits & (1 << CardKey.serialBits - 1))
    }
}
