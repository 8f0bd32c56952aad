/// Publications whose version not every member of an audience has yet: what `completed` feedback speaks of.
struct OpenPublications {
    private struct Entry {
        let version: UInt32
        let serial: UInt64
    }

    /// The oldest first.
    private var entries = ShortList<Entry>()
    private let capacity: Int

    /// - Parameter capacity: publications whose completion is told apart.
    init(capacity: Int) { self.capacity = capacity }

    var count: Int { entries.count }

    /// The newest version carries the changes of this publication. Those of one version come oldest first.
    ///
    /// - Returns: the publication that it overtakes when too many are open: the one before. Whoever lacks that gets this version
    ///   instead, and the oldest, for which people have waited longest, stay.
    mutating func open(_ serial: UInt64, in version: UInt32) -> UInt64? {
        let overtaken = entries.count == capacity ? entries.remove(at: capacity - 1).serial : nil
        entries.append(Entry(version: version, serial: serial))
        return overtaken
    }

    /// The oldest publication whose version everybody has by now, or a newer one.
    ///
    /// - Parameter oldest: version that somebody has.
    mutating func takeCompleted(oldest: UInt32) -> UInt64? {
        guard let first = entries.first, first.version <= oldest else { return nil }
        entries.remove(at: 0)
        return first.serial
    }
}
