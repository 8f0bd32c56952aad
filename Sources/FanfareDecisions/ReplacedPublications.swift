import FanfareModel

/// The last publications that are no topic's newest any more: as many as `countMax` and `sizeMax` allow.
///
/// The thread that decides allocates publications. A shard that drops the last reference to one frees it on its own thread, under the lock of the
/// allocator's arena, for which both threads then wait: with one publication per push that was a tenth of the processor time. So each is kept here
/// until the shards have dropped it, and is freed where it was allocated. A shard that is further behind still frees what it drops.
struct ReplacedPublications {
    /// Maximum number of publications that are kept.
    static let countMax = 4096
    /// Maximum size of their encoded states: with states of a usual size, `countMax` publications have one or two megabytes. States that are kept
    /// decoded for their short forms take some times as much.
    static let sizeMax = ByteCount.mebibytes(4)

    /// A ring of at most `countMax` places.
    private var places: [Publication?] = []
    /// Place of the oldest publication.
    private var oldest = 0
    private(set) var count = 0
    /// Size of the encoded states.
    private(set) var size = ByteCount.zero

    /// Keeps a publication, and drops the oldest as far as there are too many, or their states are too large.
    mutating func append(_ publication: Publication) {
        let added = publication.state.size
        while count == ReplacedPublications.countMax || count > 0 && size + added > ReplacedPublications.sizeMax {
            dropOldest()
        }
        let place = (oldest + count) % ReplacedPublications.countMax
        if place == places.count { places.append(publication) } else { places[place] = publication }
        count += 1
        size += added
    }

    private mutating func dropOldest() {
        if let dropped = places[oldest].take() { size -= dropped.state.size }
        oldest = (oldest + 1) % ReplacedPublications.countMax
        count -= 1
    }

    /// Describes a wrong number or size; `nil` if there is none.
    func violation() -> String? {
        let kept = places.compactMap(\.self)
        let found = kept.reduce(ByteCount.zero) { $0 + $1.state.size }
        guard kept.count == count, found == size else {
            return "\(count) replaced publications of \(size) are counted, there are \(kept.count) of \(found)"
        }
        return nil
    }
}
