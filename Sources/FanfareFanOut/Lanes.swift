import FanfareModel

/// Who is served next, an audience or the lineups of a topic: lanes by urgency, weighted so that none starves; inside a lane deficit
/// round robin, so that an audience of ten million does not delay a thousand small ones.
///
/// The last lane is for those whose last push came back unserved: whatever they miss, nobody else waits for another try.
struct Lanes {
    static let count = 4
    static let lastLane = count - 1
    /// Visits per round and lane. The first lane (starts, ends, alerts) gets most of every round and never all of it.
    private static let weights = [256, 64, 16, 4]
    /// Visits a member may take before the next one of its lane has its turn.
    private static let quantum = 32

    /// The queues in which a member has an entry.
    struct Places: OptionSet {
        let rawValue: UInt8
        init(rawValue: UInt8) { self.rawValue = rawValue }
        init(_ lane: Int) { rawValue = 1 << UInt8(lane) }
    }

    private var queues: [Queue<LaneMember>] = Array(repeating: Queue(), count: count)
    /// By lane: entries above which those that are left behind are looked for. While nobody pulls, nobody else comes upon them.
    private var tidyAbove = Array(repeating: tidyLeast, count: count)
    private static let tidyLeast = 1024
    private var credits = weights
    /// The lane of the member that has its turn.
    private(set) var served = lastLane

    /// Puts the member where its work belongs. Called whenever work arrives. It stands in each lane's queue at most once; an
    /// entry left behind in another lane is recognised by `lane` and skipped.
    mutating func enqueue(_ member: LaneMember) {
        guard member.hasWork, member.lane.parked == nil else { return }
        let lane = member.preferredLane
        guard member.lane.current != lane else { return }
        guard member.lane.enter(lane, turn: Lanes.quantum) else { return }
        queues[lane].append(member)
        if queues[lane].count > tidyAbove[lane] { tidy(lane) }
    }

    /// A member is no more.
    mutating func abandon(_ member: LaneMember) { member.lane.leave() }

    private mutating func tidy(_ lane: Int) {
        queues[lane].removeAll {
            guard $0.lane.current != lane else { return false }
            $0.lane.dropEntry(in: lane)
            return true
        }
        tidyAbove[lane] = max(Lanes.tidyLeast, 2 * queues[lane].count)
    }

    /// For checks.
    var entries: Int { queues.reduce(0) { $0 + $1.count } }

    /// Whose turn it is, or `nil` when no lane has work. The same one is returned until its quantum is used up, its work is done
    /// or its lane changes.
    mutating func current() -> LaneMember? {
        while true {
            guard let lane = nextLane() else { return nil }
            guard let member = queues[lane].first else { continue }
            if member.lane.current == lane, member.hasWork, member.preferredLane == lane {
                if member.lane.deficit > 0 {
                    served = lane
                    return member
                }
                member.lane.renewTurn(Lanes.quantum)
                queues[lane].removeFirst()
                queues[lane].append(member)
            } else {
                queues[lane].removeFirst()
                member.lane.dropEntry(in: lane)
                if member.lane.current == lane {  // done here; its other work, if any, belongs elsewhere
                    member.lane.leave()
                    enqueue(member)
                }
            }
        }
    }

    /// Visits that the current member may take before it is somebody else's turn.
    func allowance(of member: LaneMember) -> Int {
        guard let lane = member.lane.current else { return 0 }
        return min(member.lane.deficit, credits[lane])
    }

    /// So many visits of this member have been made: a push costs what looking in vain does.
    mutating func charge(_ member: LaneMember, _ count: Int) {
        member.lane.charge(count)
        if let lane = member.lane.current { credits[lane] -= count }
    }

    /// Takes the member out until `unpark`: it has work that may not be sent yet.
    mutating func park(_ member: LaneMember, until timer: TimingWheel.Entry) {
        member.lane.park(until: timer)
    }

    mutating func unpark(_ member: LaneMember) {
        member.lane.unpark()
        enqueue(member)
    }

    private mutating func nextLane() -> Int? {
        var waiting: Int?
        for lane in 0..<Lanes.count where !queues[lane].isEmpty {
            if credits[lane] > 0 { return lane }
            if waiting == nil { waiting = lane }
        }
        // One by one: assigned whole, the array would be the static one's copy, made when it is next written to.
        if waiting != nil { for lane in 0..<Lanes.count { credits[lane] = Lanes.weights[lane] } }
        return waiting
    }
}
