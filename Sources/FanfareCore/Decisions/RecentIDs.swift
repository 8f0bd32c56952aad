/// The newest `capacity` ids, to know duplicates by. Adding one more forgets the oldest.
struct RecentIDs: Sendable {
    private let capacity: Int
    private var members: Set<String> = []
    /// In order of arrival; once full, `oldest` is where the next one goes.
    private var ring: [String] = []
    private var oldest = 0

    init(capacity: Int) { self.capacity = max(1, capacity) }

    func contains(_ id: String) -> Bool { members.contains(id) }

    mutating func insert(_ id: String) {
        guard members.insert(id).inserted else { return }
        if ring.count < capacity {
            ring.append(id)
        } else {
            members.remove(ring[oldest])
            ring[oldest] = id
            oldest = (oldest + 1) % capacity
        }
    }
}
