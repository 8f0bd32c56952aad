/// Places of cards by the bits of their ids, in some six bytes a card: an entry has the upper 24 bits of the id. Among ten million cards every other
/// look-up has a second candidate, and the caller reads the cards to tell them apart. Confined to one thread at a time.
///
/// Each value of the id's highest 14 bits has a bucket, with cards in the order of the next 10 bits. A bucket of ten million cards has 600, so an
/// insertion moves few.
struct CardIndex {
    private static let bucketBits: UInt64 = 14
    private static let tagBits: UInt64 = 10
    private static let sliceBits: UInt16 = 6
    /// Number of the newest serials among which a card is found. 2^32 are a hundred million cards a day for six weeks, and a card lives for hours.
    private static let serialsMax: UInt64 = 1 << 32

    /// Three numbers for each card: its tag and slice, in whose order they are, and the lower 32 bits of its serial.
    private var buckets = [[UInt16]](repeating: [], count: 1 << bucketBits)
    private(set) var count = 0
    private var newest: UInt64 = 0

    /// - Parameter expectedCount: number of cards to reserve room for. Buckets that grow card by card leave holes in memory, as large as the buckets.
    init(expectedCount: Int = 0) {
        let mean = Double(expectedCount) / Double(buckets.count)
        guard mean >= 1 else { return }
        // Nearly all buckets have fewer cards: their sizes are random.
        let room = 3 * Int(mean + 2 * mean.squareRoot())
        for index in buckets.indices { buckets[index].reserveCapacity(room) }
    }

    private static func bucket(of id: UInt64) -> Int { Int(id >> (64 - bucketBits)) }

    /// Returns the tag in the bits above those of a slice.
    private static func tag(of id: UInt64) -> UInt16 {
        UInt16((id >> (64 - bucketBits - tagBits)) & (1 << tagBits - 1)) << sliceBits
    }

    /// Returns the three numbers of a card.
    private static func entry(_ id: UInt64, _ key: CardKey) -> [UInt16] {
        [
            tag(of: id) | UInt16(key.slice), UInt16(truncatingIfNeeded: key.serial),
            UInt16(truncatingIfNeeded: key.serial >> 16),
        ]
    }

    private func key(at index: Int, in bucket: [UInt16]) -> CardKey {
        let serial = UInt32(bucket[index + 1]) | UInt32(bucket[index + 2]) << 16
        return CardKey(
            slice: Int(bucket[index] & (1 << CardIndex.sliceBits - 1)),
            serial: newest - UInt64(UInt32(truncatingIfNeeded: newest) &- serial))
    }

    /// Returns the index of the first card whose tag and slice are not below these.
    private static func index(of tag: UInt16, in bucket: [UInt16]) -> Int {
        var (low, high) = (0, bucket.count / 3)
        while low < high {
            let middle = (low + high) / 2
            if bucket[3 * middle] < tag { low = middle + 1 } else { high = middle }
        }
        return 3 * low
    }

    /// Adds a card. An earlier one with that id stays beside it.
    mutating func insert(_ id: UInt64, at key: CardKey) {
        newest = max(newest, key.serial)
        guard newest - key.serial < CardIndex.serialsMax else { return }
        CardIndex.insert(CardIndex.entry(id, key), into: &buckets[CardIndex.bucket(of: id)])
        count += 1
    }

    private static func insert(_ entry: [UInt16], into bucket: inout [UInt16]) {
        // A full array doubles its capacity, of which half would stay empty.
        if bucket.count == bucket.capacity { bucket.reserveCapacity(bucket.count + max(12, bucket.count / 32)) }
        bucket.insert(contentsOf: entry, at: index(of: entry[0], in: bucket))
    }

    mutating func remove(_ id: UInt64, at key: CardKey) {
        let bucket = CardIndex.bucket(of: id)
        let entry = CardIndex.entry(id, key)
        var index = CardIndex.index(of: entry[0], in: buckets[bucket])
        while index < buckets[bucket].count, buckets[bucket][index] == entry[0] {
            if buckets[bucket][index + 1] == entry[1], buckets[bucket][index + 2] == entry[2] {
                buckets[bucket].removeSubrange(index..<index + 3)
                count -= 1
                return
            }
            index += 3
        }
    }

    /// Returns the places of the cards that may have this id, the highest serial first.
    func candidates(_ id: UInt64) -> [CardKey] {
        let bucket = buckets[CardIndex.bucket(of: id)]
        let tag = CardIndex.tag(of: id)
        var found: [CardKey] = []
        var index = CardIndex.index(of: tag, in: bucket)
        while index < bucket.count, bucket[index] >> CardIndex.sliceBits == tag >> CardIndex.sliceBits {
            found.append(key(at: index, in: bucket))
            index += 3
        }
        if found.count > 1 { found.sort { $0.serial > $1.serial } }
        return found
    }

    /// Describes a bucket out of order, half an entry, or a wrong count; `nil` if there are none. For tests.
    func violation() -> String? {
        let numbers = buckets.reduce(0) { $0 + $1.count }
        guard numbers == 3 * count else { return "\(count) cards are counted, and have \(numbers) numbers" }
        for (place, bucket) in buckets.enumerated() {
            let tags = stride(from: 0, to: bucket.count, by: 3).map { bucket[$0] }
            guard bucket.count.isMultiple(of: 3), zip(tags, tags.dropFirst()).allSatisfy({ $0 <= $1 }) else {
                return "the cards of bucket \(place) are out of order"
            }
        }
        return nil
    }
}
