/// Lives in which parts of the disk stall, and the alerts that leave in them without a claim.
struct SlowDisk {
    /// Is `true` if the disk stalls in some lives.
    let isPossible: Bool
    /// Is `true` if the disk stalls in this life.
    private(set) var isStalling = false
    var stalls = DiskStalls()
    /// Number of alerts that have left in this life without a claim that names their phones, by node.
    private(set) var leftUnclaimed: [Int: Int] = [:]

    init(isPossible: Bool) { self.isPossible = isPossible }

    /// Begins a life.
    mutating func begin(isStalling: Bool) {
        stalls.end()
        leftUnclaimed = [:]
        self.isStalling = isStalling
    }

    /// Notes alerts of a push of the node that leave without a claim.
    ///
    /// - Returns: their number in this life.
    mutating func noteUnclaimed(_ count: Int, of node: Int) -> Int {
        leftUnclaimed[node, default: 0] += count
        return leftUnclaimed[node, default: 0]
    }
}
