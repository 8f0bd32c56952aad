import FanfareModel

/// The alerts that members of an audience may have missed: the newest of each class, and the versions of those that have made room
/// for them.
struct AlertHistory {
    /// The oldest first.
    private(set) var pending: [PendingAlert] = []
    /// Versions of alerts that have made room for newer ones, in the order in which they did.
    private var displaced: [UInt32] = []
    /// Of each class.
    private var seen = SIMD2<UInt32>()
    /// Version of the newest alert: who has had its chance at that one needs no look at the others.
    private(set) var newest: UInt32 = 0
    /// Unvisited members before which the newest alert has not come yet: while there are any, the sweep runs in the first lane.
    private(set) var unreached = 0

    /// Alerts of each class kept for those who missed them. A person who missed more than this many has no use for the oldest; but
    /// no number of ordinary ones makes up for an essential one.
    static let perClassMax = 8
    /// An activity lasts eight hours: an alert every half minute.
    private static let displacedMax = 1024

    /// A version brings an alert.
    ///
    /// - Parameters:
    ///   - members: they are all to be reached.
    ///   - oldest: version that all of them have, or a newer one.
    mutating func append(_ issue: IssuedAlert, in version: UInt32, for members: Int, having oldest: UInt32) {
        let `class` = issue.alert.class
        if pending.count(where: { $0.alert.class == `class` }) == AlertHistory.perClassMax,
            let first = pending.firstIndex(where: { $0.alert.class == `class` })
        {
            displace(first, having: oldest)
        }
        let place = UInt32(`class`.rawValue)
        seen[Int(place)] &+= 1
        pending.append(PendingAlert(version: version, number: seen[Int(place)] &* 2 &+ place, issue: issue))
        newest = version
        unreached = members
    }

    /// A history in which nobody has missed anything, and the alerts are not there: only how many there were of each class, as far as
    /// their numbers need that.
    init(resting seen: SIMD2<UInt8>) { self.seen = SIMD2(truncatingIfNeeded: seen) &+ 256 }

    init() {}

    var resting: SIMD2<UInt8> { SIMD2(truncatingIfNeeded: seen) }

    /// Alerts that came before all that are there, the oldest first. Everybody has had the chance of them: they have this version.
    mutating func restore(_ older: [IssuedAlert], in version: UInt32) {
        for alertClass in [AlertClass.ordinary, .essential] {
            let place = UInt32(alertClass.rawValue)
            let kept = UInt32(pending.count { $0.alert.class == alertClass })
            let room = AlertHistory.perClassMax - Int(kept)
            for (index, issue) in older.filter({ $0.alert.class == alertClass }).suffix(max(0, room)).reversed()
                .enumerated()
            {
                let number = (seen[Int(place)] &- kept &- UInt32(index)) &* 2 &+ place
                pending.insert(PendingAlert(version: version, number: number, issue: issue), at: 0)
            }
        }
    }

    /// The alert makes room for a newer one. Nobody can be told of it any more; for the figures its version is kept while somebody
    /// may have missed it.
    private mutating func displace(_ index: Int, having oldest: UInt32) {
        displaced.removeAll { $0 <= oldest }
        if displaced.count == AlertHistory.displacedMax { displaced.removeFirst() }
        displaced.append(pending.remove(at: index).version)
    }

    /// Alerts of that cause ride no more.
    ///
    /// - Returns: their versions.
    mutating func revoke(cause: String, topic: TopicID) -> [UInt32] {
        var versions: [UInt32] = []
        for index in pending.indices where pending[index].alert.cause == cause && pending[index].topic == topic {
            pending[index].issue.isRevoked = true
            versions.append(pending[index].version)
        }
        return versions
    }

    /// Unvisited members have been visited.
    mutating func noteVisits(_ count: Int) { unreached -= min(unreached, count) }

    /// Alerts that came after those at which somebody has had its chance, carried or not.
    func missed(after alerted: UInt32) -> ArraySlice<PendingAlert> {
        guard newest > alerted else { return [] }
        return pending[(pending.firstIndex { $0.version > alerted } ?? pending.endIndex)...]
    }

    /// Of those that were to be had up to a version, how many have made room for newer ones.
    func displaced(after alerted: UInt32, through version: UInt32) -> Int {
        displaced.isEmpty ? 0 : displaced.count { $0 > alerted && $0 <= version }
    }
}
