/// A hash table of places in another table: open addressing with linear probing, four bytes per bucket, at most three quarters full.
///
/// The table consists of segments, which grow one by one: a full segment doubles, and one of `segmentSizeMax` buckets is split in two. An insertion
/// therefore moves the places of one segment, a tenth of a millisecond's work, however large the table is. A table that grew as a whole would read
/// ten million keys at random places, and all others of the shard would wait for more than a second. A directory finds the segment of a hash.
///
/// The keys stay where the places lead, so no key is stored twice: the caller says which key a place has, and which hash.
struct SegmentTable {
    /// Hash table of the places whose hashes have the same leading bits, once they are mixed.
    private struct Segment {
        private var buckets: [UInt32]
        /// Number of these bits.
        let bits: Int
        private(set) var count = 0

        init(size: Int, bits: Int) {
            buckets = Array(repeating: SegmentTable.empty, count: size)
            self.bits = bits
        }

        var places: [UInt32] { buckets.filter { $0 != SegmentTable.empty } }
        var size: Int { buckets.count }
        /// Is `true` if there is no room for another place.
        var isFull: Bool { (count + 1) * 4 > buckets.count * 3 }

        private func home(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash) & (buckets.count - 1) }

        @inline(__always)
        func find(_ hash: UInt64, where isWanted: (Int) -> Bool) -> Int? {
            var bucket = home(hash)
            while buckets[bucket] != SegmentTable.empty {
                let place = Int(buckets[bucket])
                if isWanted(place) { return place }
                bucket = (bucket + 1) & (buckets.count - 1)
            }
            return nil
        }

        /// Inserts a place, for which there must be room.
        mutating func insert(_ place: UInt32, _ hash: UInt64) {
            var bucket = home(hash)
            while buckets[bucket] != SegmentTable.empty { bucket = (bucket + 1) & (buckets.count - 1) }
            buckets[bucket] = place
            count += 1
        }

        /// Removes a place, which must be in the segment. Entries that it displaced move back, so there are no tombstones, and probe sequences
        /// do not grow with churn.
        @inline(__always)
        mutating func remove(_ place: Int, hash: (Int) -> UInt64) {
            let mask = buckets.count - 1
            var hole = home(hash(place))
            while Int(buckets[hole]) != place {
                // A search for what is not here would never end.
                precondition(buckets[hole] != SegmentTable.empty, "a table has no such place")
                hole = (hole + 1) & mask
            }
            var next = (hole + 1) & mask
            while buckets[next] != SegmentTable.empty {
                // The entry may move into the hole unless its home lies between the hole and its present bucket.
                let distance = (next - home(hash(Int(buckets[next])))) & mask
                if distance >= (next - hole) & mask {
                    buckets[hole] = buckets[next]
                    hole = next
                }
                next = (next + 1) & mask
            }
            buckets[hole] = SegmentTable.empty
            count -= 1
        }

        /// Number of buckets that a look-up of a place in the segment reads.
        func probes(_ place: Int, _ hash: UInt64) -> Int {
            var bucket = home(hash)
            var probes = 1
            while Int(buckets[bucket]) != place {
                bucket = (bucket + 1) & (buckets.count - 1)
                probes += 1
            }
            return probes
        }
    }

    private static let empty = UInt32.max
    private static let sizeMin = 16
    /// Number of buckets of a segment that is split when it is full.
    static let segmentSizeMax = 2048
    /// Greatest number of bits that tell segments apart. With as many, a hundred million places have room, and a full segment doubles again.
    private static let bitsMax = 16

    private var segments = [Segment(size: sizeMin, bits: 0)]
    /// Index of the segment for each value of `directoryBits` leading bits.
    private var directory: [UInt16] = [0]
    private var directoryBits = 0
    private(set) var count = 0

    /// Returns the leading bits of a hash. They are mixed (Fibonacci hashing), because the lower bits are those of the buckets.
    private func prefix(of hash: UInt64) -> Int {
        Int(truncatingIfNeeded: (hash &* 0x9E37_79B9_7F4A_7C15) >> UInt64(64 - directoryBits))
    }

    /// Returns the index of a hash's segment.
    private func segment(of hash: UInt64) -> Int { Int(directory[prefix(of: hash)]) }

    /// - Parameter isWanted: returns whether a place has the key with the hash.
    @inline(__always)
    func find(_ hash: UInt64, where isWanted: (Int) -> Bool) -> Int? {
        segments[segment(of: hash)].find(hash, where: isWanted)
    }

    /// Inserts a place, whose key must not be in the table.
    ///
    /// - Parameter hash: returns the hash of a place's key.
    mutating func insert(_ place: Int, hash: (Int) -> UInt64) {
        let its = hash(place)
        while segments[segment(of: its)].isFull { grow(segmentOf: its, hash) }
        segments[segment(of: its)].insert(UInt32(place), its)
        count += 1
    }

    /// Removes a place, which must be in the table.
    ///
    /// - Parameter hash: returns the hash of a place's key.
    @inline(__always)
    mutating func remove(_ place: Int, hash: (Int) -> UInt64) {
        segments[segment(of: hash(place))].remove(place, hash: hash)
        count -= 1
    }

    /// Makes room for that many places in an empty table, unless it has that room. A table with places grows by small steps.
    mutating func reserve(_ capacity: Int) {
        guard count == 0, capacity * 3 > segments.reduce(0, { $0 + $1.size }) * 2 else { return }
        var (size, bits) = (SegmentTable.sizeMin, 0)
        // Keys come and go, and a segment that is full at times would split: a third stays free, some deviations more than chance fills.
        while capacity * 3 > size * 2 << bits {
            if size < SegmentTable.segmentSizeMax || bits == SegmentTable.bitsMax { size *= 2 } else { bits += 1 }
        }
        // The segments share one array until each of them gets its first place.
        segments = Array(repeating: Segment(size: size, bits: bits), count: 1 << bits)
        directory = segments.indices.map { UInt16($0) }
        directoryBits = bits
    }

    // MARK: Growth

    private mutating func grow(segmentOf hash: UInt64, _ hashes: (Int) -> UInt64) {
        let index = segment(of: hash)
        let old = segments[index]
        guard old.size >= SegmentTable.segmentSizeMax, old.bits < SegmentTable.bitsMax else {
            segments[index] = Segment(size: old.size * 2, bits: old.bits)
            return insert(old.places, hashes)
        }
        if old.bits == directoryBits { doubleDirectory() }
        // The values that lead to the segment are neighbours. From now on the upper half of them leads to the new one.
        let width = 1 << (directoryBits - old.bits)
        let first = prefix(of: hash) / width * width
        segments[index] = Segment(size: old.size, bits: old.bits + 1)
        for value in first + width / 2..<first + width { directory[value] = UInt16(segments.count) }
        segments.append(Segment(size: old.size, bits: old.bits + 1))
        insert(old.places, hashes)
    }

    private mutating func insert(_ places: [UInt32], _ hashes: (Int) -> UInt64) {
        for place in places {
            let hash = hashes(Int(place))
            segments[segment(of: hash)].insert(place, hash)
        }
    }

    private mutating func doubleDirectory() {
        var doubled: [UInt16] = []
        doubled.reserveCapacity(directory.count * 2)
        for index in directory {
            doubled.append(index)
            doubled.append(index)
        }
        directory = doubled
        directoryBits += 1
    }

    // MARK: Checks

    /// All places, in no order.
    var places: [Int] { segments.flatMap { $0.places.map { Int($0) } } }

    /// Number of buckets that a look-up of a place in the table reads.
    ///
    /// - Parameter hash: of the place's key.
    func probes(_ place: Int, _ hash: UInt64) -> Int { segments[segment(of: hash)].probes(place, hash) }

    /// Greatest number of buckets of a segment.
    var longestSegment: Int { segments.reduce(0) { max($0, $1.size) } }

    /// Describes a wrong count, a place in two buckets, or too few free buckets; `nil` if there is none.
    func violation() -> String? {
        let taken = places
        let isRight = segments.allSatisfy { $0.places.count == $0.count && $0.count * 4 <= $0.size * 3 }
        guard taken.count == count, Set(taken).count == count, isRight else {
            return "\(count) places are counted, \(taken.count) are in \(segments.count) segments"
        }
        return nil
    }
}
