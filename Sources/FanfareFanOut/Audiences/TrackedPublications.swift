/// Publications whose version some member of an audience still lacks; `completed` feedback reports their completion.
struct TrackedPublications {
    private struct Entry {
        let version: UInt32
        let serial: UInt64
    }

    /// The tracked publications, the oldest first.
    private var entries = ShortList<Entry>()
    private let capacity: Int
    /// Place of the audience's note in `CompletionBook`.
    var completionPlace = CompletionPlace()

    /// - Parameter capacity: maximum of publications whose completion is tracked at a time.
    init(capacity: Int) { self.capacity = capacity }

    var count: Int { entries.count }

    /// Adds a publication whose changes the newest version carries. Publications of one version are added oldest first.
    ///
    /// - Returns: the publication before it, which it overtakes, if too many are tracked: members that lack that one get this version instead.
    ///   The oldest publications, for which people have waited longest, stay.
    mutating func track(_ serial: UInt64, in version: UInt32) -> UInt64? {
        let overtaken = entries.count == capacity ? entries.remove(at: capacity - 1).serial : nil
        entries.append(Entry(version: version, serial: serial))
        return overtaken
    }

    /// Describes too many entries, or entries out of order; `nil` if there are none.
    func violation() -> String? {
        let versions = entries.all.map(\.version)
        guard versions.count <= capacity, zip(versions, versions.dropFirst()).allSatisfy({ $0 <= $1 }) else {
            return "publications of versions \(versions) are tracked"
        }
        return nil
    }

    /// Removes and returns the oldest publication if each member has its version or a newer one; otherwise `nil`.
    ///
    /// - Parameter oldest: the oldest version that a member has.
    mutating func takeCompleted(oldest: UInt32) -> UInt64? {
        guard let first = entries.first, first.version <= oldest else { return nil }
        entries.remove(at: 0)
        return first.serial
    }
}
