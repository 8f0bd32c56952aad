import FanfareModel

/// The alerts that members of an audience may have missed: the newest ones of each class, and the versions of older ones that these have
/// displaced.
struct AlertHistory {
    /// Alerts that may still be sent, the oldest first.
    private(set) var pending: [PendingAlert] = []
    /// Versions of displaced alerts, in the order in which they were displaced.
    private var displaced: [UInt32] = []
    /// Number of alerts so far, by class.
    private var alertCounts = SIMD2<UInt32>()
    /// Version of the newest alert: a member for which that one is settled has missed none.
    private(set) var newest: UInt32 = 0
    /// Members that are claimed for the newest alert.
    var claimFront = ClaimFront()
    /// Unvisited members that may lack the newest alert: while there are any, the sweep runs in the first lane.
    private(set) var unreached = 0

    /// Maximum of displaced versions: an alert every half minute for the eight hours that an activity lasts.
    private static let displacedMax = 1024

    /// Adds the alert of a version.
    ///
    /// - Parameters:
    ///   - members: number of members, all of which are to get the alert.
    ///   - oldest: the oldest version that a member has.
    mutating func append(_ issue: IssuedAlert, in version: UInt32, for members: Int, having oldest: UInt32) {
        let `class` = issue.alert.class
        if pending.count(where: { $0.alert.class == `class` }) == PendingAlert.perClassMax,
            let first = pending.firstIndex(where: { $0.alert.class == `class` })
        {
            displace(first, having: oldest)
        }
        let place = UInt32(`class`.rawValue)
        alertCounts[Int(place)] &+= 1
        pending.append(PendingAlert(version: version, number: alertCounts[Int(place)] &* 2 &+ place, issue: issue))
        newest = version
        unreached = members
        claimFront.firstTicket = max(claimFront.firstTicket, issue.claimedFrom)
    }

    /// The alerts that may still leave; `nil` if there are none.
    func fresh(at moment: Moment) -> FreshAlerts? {
        FreshAlerts(pending.lazy.map(\.issue), at: moment)
    }

    /// Creates the history of an audience that was at rest, in which no member has missed an alert. It has no alerts, and only the low bits of
    /// their counts, which suffice for the alerts' numbers.
    init(resting alertCounts: SIMD2<UInt8>) { self.alertCounts = SIMD2(truncatingIfNeeded: alertCounts) &+ 256 }

    init() {}

    /// Is `true` while there has been no alert.
    var isEmpty: Bool { newest == 0 && pending.isEmpty && displaced.isEmpty && alertCounts == .zero && unreached == 0 }

    /// Low bits of the number of alerts, by class: the history of an audience at rest.
    var resting: SIMD2<UInt8> { SIMD2(truncatingIfNeeded: alertCounts) }

    /// Restores alerts that came before all present ones.
    ///
    /// - Parameters:
    ///   - older: the alerts, the oldest first.
    ///   - version: the version that they get. Each member has it, so they are settled.
    mutating func restore(_ older: [IssuedAlert], in version: UInt32) {
        for alertClass in [AlertClass.ordinary, .essential] {
            let place = UInt32(alertClass.rawValue)
            let kept = UInt32(pending.count { $0.alert.class == alertClass })
            let room = PendingAlert.perClassMax - Int(kept)
            for (index, issue) in older.filter({ $0.alert.class == alertClass }).suffix(max(0, room)).reversed()
                .enumerated()
            {
                let number = (alertCounts[Int(place)] &- kept &- UInt32(index)) &* 2 &+ place
                pending.insert(PendingAlert(version: version, number: number, issue: issue), at: 0)
            }
        }
    }

    /// Displaces an alert by a newer one. It is sent to no member any more; its version is kept for the figures while a member may have missed
    /// it.
    private mutating func displace(_ index: Int, having oldest: UInt32) {
        displaced.removeAll { $0 <= oldest }
        if displaced.count == AlertHistory.displacedMax { displaced.removeFirst() }
        displaced.append(pending.remove(at: index).version)
    }

    /// Revokes the alerts of a cause: no further push carries them.
    ///
    /// - Returns: the versions of the alerts.
    mutating func revoke(cause: String, topic: TopicID) -> [UInt32] {
        var versions: [UInt32] = []
        for index in pending.indices where pending[index].alert.cause == cause && pending[index].topic == topic {
            pending[index].issue.isRevoked = true
            versions.append(pending[index].version)
        }
        return versions
    }

    /// Notes that one of the unvisited members lacks the newest alert, wherever it stands among them.
    mutating func noteUnreached(_ unvisited: Int) { unreached = unvisited }

    /// Notes visits to members that may have lacked the newest alert.
    mutating func noteVisits(_ count: Int) { unreached -= min(unreached, count) }

    /// Returns the alerts of versions after `alerted`, up to which a member's alerts are settled.
    func missed(after alerted: UInt32) -> ArraySlice<PendingAlert> {
        guard newest > alerted else { return [] }
        return pending[(pending.firstIndex { $0.version > alerted } ?? pending.endIndex)...]
    }

    /// Describes more alerts than are kept; `nil` if there are none.
    func violation() -> String? {
        guard pending.kept.count == pending.count, displaced.count <= AlertHistory.displacedMax else {
            return "\(pending.count) alerts are kept for an audience, and \(displaced.count) displaced ones"
        }
        return claimFront.violation()
    }

    /// Returns the number of displaced alerts between two versions: after `alerted`, and not after `version`.
    func displaced(after alerted: UInt32, through version: UInt32) -> Int {
        displaced.isEmpty ? 0 : displaced.count { $0 > alerted && $0 <= version }
    }
}
