import FanfareModel
import FanfareQueues

/// The shares of the lanes (`Lanes`), in visits.
package struct LaneShares: Sendable {
    /// Visits per lane in each round. The first lane (starts, ends, alerts) gets most of a round and never all of it.
    package var visits: [Int]
    /// Visits that a member may take before the next one of its lane is served.
    package var quantum: Int

    /// - Parameter visits: four numbers, each at least 1, as is `quantum`.
    package init(visits: [Int] = [256, 64, 16, 4], quantum: Int = 32) {
        precondition(visits.count == Lane.count && visits.allSatisfy { $0 > 0 } && quantum > 0)
        self.visits = visits
        self.quantum = quantum
    }
}

/// The order in which audiences and the lineups of topics are served: lanes by urgency, weighted so that none starves, and deficit round
/// robin inside a lane, so that an audience of ten million does not delay a thousand small ones.
///
/// The last lane is for work that is left for activities whose last push failed: no other activity waits for their retries.
struct Lanes {
    private let shares: LaneShares

    private var queues: [LaneQueue] = Array(repeating: LaneQueue(), count: Lane.count)
    /// Number of stale entries, by lane: those of members that have left the lane. They are removed once they outnumber the others, because
    /// nothing else finds them while nothing is pulled.
    private var stale = Array(repeating: 0, count: Lane.count)
    private static let staleLeast = 512
    /// Visits that are left in this round, by lane.
    private var credits: [Int]
    /// The lane of the member that is being served.
    private(set) var served = Lane.last

    init(_ shares: LaneShares = LaneShares()) {
        self.shares = shares
        credits = shares.visits
    }

    /// Enqueues the member in the lane of its work. Called whenever work arrives. A member has at most one entry in each lane's queue; a
    /// stale entry in another lane is recognised by `lane` and skipped.
    mutating func enqueue(_ member: LaneMember) {
        guard member.hasWork, member.lane.parked == nil else { return }
        let lane = member.preferredLane
        guard member.lane.current != lane else { return }
        abandon(member)
        if member.lane.enter(lane, turn: shares.quantum) {
            queues[lane].append(member)
        } else {
            stale[lane] -= 1
        }
    }

    /// Removes a member from its lane, for good or until it is enqueued again.
    mutating func abandon(_ member: LaneMember) {
        guard let lane = member.lane.current else { return }
        member.lane.leave()
        stale[lane] += 1
        if stale[lane] > max(Lanes.staleLeast, queues[lane].count / 2) { tidy(lane) }
    }

    private mutating func tidy(_ lane: Int) {
        queues[lane].removeAll {
            guard $0.lane.current != lane else { return false }
            $0.lane.dropEntry(in: lane)
            return true
        }
        stale[lane] = 0
    }

    /// Describes a wrong count of stale entries, or a queue with gaps; `nil` if there are none.
    func violation() -> String? {
        for lane in 0..<Lane.count {
            if let violation = queues[lane].violation() { return violation }
            let found = queues[lane].staleCount(in: lane)
            if found != stale[lane] { return "lane \(lane) has \(found) stale entries and counts \(stale[lane])" }
        }
        return nil
    }

    /// `true` if no member has work that is due. Stale entries count as work until they are met.
    var isEmpty: Bool { queues.allSatisfy(\.isEmpty) }

    /// Is `true` while a member has work of priority 10: starts, ends, alerts, and changes that do not wait. Stale entries count, as for `isEmpty`.
    var hasUrgentWork: Bool { !queues[0].isEmpty || !queues[1].isEmpty }

    /// Number of entries in all queues, stale ones included; for checks.
    var entries: Int { queues.reduce(0) { $0 + $1.count } }

    /// Returns the member to serve, or `nil` when no lane has work. The same member is returned until its quantum is used up, its work is done, or
    /// its lane changes.
    mutating func current() -> LaneMember? {
        while true {
            guard let lane = nextLane() else { return nil }
            guard let member = queues[lane].first else { continue }
            if member.lane.current == lane, member.hasWork, member.preferredLane == lane {
                if member.lane.deficit > 0 {
                    served = lane
                    return member
                }
                member.lane.renewTurn(shares.quantum)
                queues[lane].removeFirst()
                queues[lane].append(member)
            } else {
                queues[lane].removeFirst()
                member.lane.dropEntry(in: lane)
                if member.lane.current == lane {  // done here; its other work, if any, belongs elsewhere
                    member.lane.leave()
                    enqueue(member)
                } else {
                    stale[lane] -= 1
                }
            }
        }
    }

    /// Makes any member of the lane that is served next its first one.
    mutating func drawNext(by random: UInt64) {
        if let lane = nextLane() { queues[lane].drawFirst(by: random) }
    }

    /// Returns the visits that the current member may take before another one is served.
    func allowance(of member: LaneMember) -> Int {
        guard let lane = member.lane.current else { return 0 }
        return min(member.lane.deficit, credits[lane])
    }

    /// Charges the member for visits: a visit without a push costs as much as one with a push.
    mutating func charge(_ member: LaneMember, _ count: Int) {
        member.lane.charge(count)
        // A member that was parked in the turn was visited, too.
        credits[member.lane.current ?? served] -= count
    }

    /// Takes the member out of the lanes until `unpark`, because its work may not be sent yet.
    mutating func park(_ member: LaneMember, until timer: ShardTimers.Entry) {
        abandon(member)
        member.lane.park(until: timer)
    }

    mutating func unpark(_ member: LaneMember) {
        member.lane.unpark()
        enqueue(member)
    }

    private mutating func nextLane() -> Int? {
        var waiting: Int?
        for lane in 0..<Lane.count where !queues[lane].isEmpty {
            if credits[lane] > 0 { return lane }
            if waiting == nil { waiting = lane }
        }
        // The elements are assigned one by one: assigned as a whole, the array would share its storage, and the next write would copy it.
        if waiting != nil { for lane in 0..<Lane.count { credits[lane] = shares.visits[lane] } }
        return waiting
    }
}
