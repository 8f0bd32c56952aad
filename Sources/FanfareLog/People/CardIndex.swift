/// Places of cards by the bits of their ids, in some ten bytes a card: an id's upper 32 bits are kept beside the place, so that a few ids
/// have more than one candidate, and whoever asks reads the cards to tell them apart. Confined to one thread at a time.
///
/// A bucket for each value of the id's highest 14 bits has its cards in the order of the 18 bits behind them. 600 cards are in a bucket of ten
/// million, so that an insertion moves few.
struct CardIndex {
    private static let bucketBits: UInt64 = 14
    private static let tagBits: UInt64 = 18
    /// Bits of a place: a serial, and one of 64 slices. 2^40 serials are a million cards a second for twelve days, or a hundred million a day
    /// for thirty years; a card beyond is not found by its id.
    private static let placeBits: UInt64 = 46
    static let serialMax: UInt64 = 1 << 40 - 1

    /// Tag and place of each card, in ascending order.
    private var buckets = [[UInt64]](repeating: [], count: 1 << bucketBits)
    private(set) var count = 0

    private static func bucket(of id: UInt64) -> Int { Int(id >> (64 - bucketBits)) }

    /// Returns the tag in the bits above those of a place.
    private static func tag(of id: UInt64) -> UInt64 {
        ((id >> (64 - bucketBits - tagBits)) & (1 << tagBits - 1)) << placeBits
    }

    private static func place(of key: CardKey) -> UInt64 { key.serial << 6 | UInt64(key.slice) }

    private static func key(of place: UInt64) -> CardKey {
        CardKey(slice: Int(place & 63), serial: (place & (1 << placeBits - 1)) >> 6)
    }

    /// Returns the index of the first element that is not below the value.
    private static func index(of value: UInt64, in bucket: [UInt64]) -> Int {
        var (low, high) = (0, bucket.count)
        while low < high {
            let middle = (low + high) / 2
            if bucket[middle] < value { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Adds a card. One that was added before stays beside it.
    mutating func insert(_ id: UInt64, at key: CardKey) {
        guard key.serial <= CardIndex.serialMax else { return }
        let value = CardIndex.tag(of: id) | CardIndex.place(of: key)
        CardIndex.insert(value, into: &buckets[CardIndex.bucket(of: id)])
        count += 1
    }

    private static func insert(_ value: UInt64, into bucket: inout [UInt64]) {
        // An array doubles its room when it is full, of which half would be empty after a million cards have come.
        if bucket.count == bucket.capacity { bucket.reserveCapacity(bucket.count + max(4, bucket.count / 16)) }
        bucket.insert(value, at: index(of: value, in: bucket))
    }

    mutating func remove(_ id: UInt64, at key: CardKey) {
        let value = CardIndex.tag(of: id) | CardIndex.place(of: key)
        let bucket = CardIndex.bucket(of: id)
        let index = CardIndex.index(of: value, in: buckets[bucket])
        guard index < buckets[bucket].count, buckets[bucket][index] == value else { return }
        buckets[bucket].remove(at: index)
        count -= 1
    }

    /// Returns the places of the cards that may have this id, the highest serial first.
    func candidates(_ id: UInt64) -> [CardKey] {
        let bucket = buckets[CardIndex.bucket(of: id)]
        let tag = CardIndex.tag(of: id)
        let found = bucket[CardIndex.index(of: tag, in: bucket)...].prefix {
            $0 >> CardIndex.placeBits == tag >> CardIndex.placeBits
        }
        return found.reversed().map(CardIndex.key)
    }
}
