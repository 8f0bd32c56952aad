import FanfareModel

/// The last `countMax` publications that are no topic's newest any more.
///
/// The thread that decides allocates publications. A shard that drops the last reference to one frees it on its own thread, under the lock of the
/// allocator's arena, for which both threads then wait: with one publication per push that was a tenth of the processor time. So each is kept here
/// until the shards have dropped it, and is freed where it was allocated. A shard that is further behind still frees what it drops, and so it does
/// with a publication that has an alert, of which only the silent copy is kept.
struct ReplacedPublications {
    /// Number of publications that are kept: with states of a usual size two to four megabytes, and with states at
    /// their limit, kept decoded for their short forms, some hundred.
    static let countMax = 4096

    private var publications: [Publication] = []
    /// Place of the oldest publication, once there are `countMax`.
    private var oldest = 0

    /// Keeps a publication, in place of the oldest if there are `countMax`.
    mutating func append(_ publication: Publication) {
        guard publications.count == ReplacedPublications.countMax else { return publications.append(publication) }
        publications[oldest] = publication
        oldest = (oldest + 1) % ReplacedPublications.countMax
    }
}
