import FanfareFanOut

/// How many connections a pool has, so that what is owed at once reaches the last activity within `reach`.
///
/// A connection carries so many pushes in a round trip as its peer allows, and fewer while TCP begins slowly; the farther the peer
/// is, the fewer round trips are in the time. Connections are opened before they are needed, for they take several round trips, and
/// one after the other. They are kept: APNs takes many new ones for an attack (spec §10). More of them than the peer wants, or than
/// bring anything, make it worse: then there are no more for a while.
///
/// All times are monotonic nanoseconds.
struct PoolSize {
    struct Limits: Sendable, Equatable {
        /// From a change to the last activity of the largest audience.
        var reach: Duration = .seconds(2)
        /// APNs asks for several rather than bursts on few (spec §10).
        var least = 2
        var most = 64

        static func exactly(_ count: Int) -> Limits { Limits(least: count, most: count) }

        var leastHad: Int { max(1, min(least, most)) }
    }

    /// What the connections have been seen to do.
    struct Path: Equatable {
        var roundTrip: Int64
        /// Requests that a connection may have in flight, and would if its window were large enough.
        var width: Int
        var streams: Int
        /// Bytes of a request, header and frames included.
        var requestBytes: Int
    }

    /// Of `reach`: the rest is for what a goal waits for elsewhere, and for a path that is worse than it was.
    private static let plannedShare = 4
    /// Pushes that a shard's thread sends in a second at most; with several at a time on a machine it is less.
    private static let pushesPerSecondMax = 1_000_000
    /// What TCP sends in the first round trip, also after idleness; it doubles with each further one (RFC 6928, RFC 5681 §4.1).
    private static let initialWindow = 14_600
    /// A smaller need than this share of what there is, for so long, ends one connection, and another one each `shrinkInterval`.
    private static let shrinkShare = 0.75
    static let shrinkAfter: Int64 = 600 * 1_000_000_000
    static let shrinkInterval: Int64 = 60 * 1_000_000_000
    /// What was owed at once, and that all were full, counts for so long.
    static let memory: Int64 = 1800 * 1_000_000_000

    /// A time without what was of no use, longer when it is so again soon afterwards.
    private struct Pause {
        private var wait = Backoff(first: .seconds(60), most: .seconds(3600))
        private var ends = Int64.min
        /// After such a time without a pause the next one is a short one again.
        private static let forgottenAfter: Int64 = 3600 * 1_000_000_000

        func isOver(at now: Int64) -> Bool { now >= ends }

        /// One that goes on stays as it is: it is the same trouble.
        mutating func begin(at now: Int64, using random: inout some RandomNumberGenerator) {
            guard isOver(at: now) else { return }
            if ends > .min, now - ends > Pause.forgottenAfter { wait.reset() }
            ends = now + wait.next(using: &random).nanoseconds
        }
    }

    let limits: Limits
    /// Connections that there are to be now: the pool opens one more, or closes one, when this says so.
    private(set) var count: Int
    /// For what is known of the demand, and for what was seen under load.
    private var needed: Int
    private var tried = 0
    /// The peer has refused more than these.
    private var ceiling = Int.max
    private var refusal = Pause()
    /// More of them brought nothing.
    private var futility = Pause()
    /// Since when fewer would do, or one of those that would not be needed was closed.
    private var isLargeSince: Int64?
    /// When all were full last. What was opened for that is there for the next time.
    private var filledAt: Int64?
    /// What was owed at once lately.
    private var (peak, formerPeak) = (0, 0)
    private var peakTurnsAt = Int64.min
    /// All were full: as many as there are now, their best rate, and how often that was seen; and the same of some time before.
    private var seen = (count: 0, best: 0.0, spans: 0)
    private var reference: (count: Int, rate: Double, at: Int64)?
    /// Before their rate is believed. Answers come in reads, so one look says little.
    private static let spansMin = 4
    /// Of what more connections should bring, if they were the limit; and how many more it takes to tell that from chance.
    private static let worthwhileShare = 0.5
    private static let tellingShare = 0.25
    /// What was seen longer ago is of another distance, or of other bodies.
    private static let referenceMemory: Int64 = 600 * 1_000_000_000

    init(_ limits: Limits) {
        self.limits = limits
        count = limits.leastHad
        needed = count
    }

    /// So many pushes are due at once, or will be.
    mutating func note(demand: Int, at now: Int64) {
        if now >= peakTurnsAt {
            formerPeak = peakTurnsAt == .min || now - peakTurnsAt >= PoolSize.memory ? 0 : peak
            peak = 0
            peakTurnsAt = now + PoolSize.memory
        }
        peak = max(peak, demand)
    }

    /// - Parameter path: as it is without a queue; `nil` while no connection has measured it.
    mutating func review(_ path: Path?, at now: Int64) {
        guard let path else { return isLargeSince = nil }
        needed = PoolSize.needed(for: max(peak, formerPeak), over: path, limits)
        guard Double(needed) <= Double(count) * PoolSize.shrinkShare,
            filledAt.map({ now - $0 >= PoolSize.memory }) ?? true
        else { return isLargeSince = nil }
        if isLargeSince == nil { isLargeSince = now }
    }

    /// More connections are to be opened.
    func isGrowing(at now: Int64) -> Bool {
        let wanted = futility.isOver(at: now) ? max(needed, tried) : needed
        return count < (refusal.isOver(at: now) ? wanted : min(wanted, ceiling))
    }

    /// For a while there are no more: those that were tried were refused, or in vain.
    func isStopped(at now: Int64) -> Bool {
        !futility.isOver(at: now) || !refusal.isOver(at: now) && count >= ceiling
    }

    /// Whether all are full where this holds pushes back. Where growing has stopped, that is said to hold them back, and they are full
    /// all the same.
    func isFull(_ limit: TransportFigures.Limit, at now: Int64) -> Bool {
        limit == .streams || limit == .window || limit == .peer && isStopped(at: now)
    }

    /// One more is to be opened, which has not been seen to work.
    mutating func grow() { count += 1 }

    /// One of several that were to be opened was not taken, and the peer is asked for another one of them alone.
    mutating func takeBack() { count -= 1 }

    /// - Returns: whether one is to be closed, after a long quiet.
    mutating func shrinks(at now: Int64) -> Bool {
        guard let since = isLargeSince, now - since >= PoolSize.shrinkAfter, count > limits.leastHad else {
            return false
        }
        isLargeSince = now - PoolSize.shrinkAfter + PoolSize.shrinkInterval
        count -= 1
        tried = min(tried, count)
        return true
    }

    /// When `shrinks` may say yes next.
    var shrinksAt: Int64? { isLargeSince.map { $0 + PoolSize.shrinkAfter } }

    /// The peer would not have one of them, or this machine: it is gone, and for a while there are no more than the others.
    ///
    /// - Returns: whether it may be given up.
    mutating func refuse(at now: Int64, using random: inout some RandomNumberGenerator) -> Bool {
        guard count > limits.leastHad else { return false }
        count -= 1
        (ceiling, tried, reference) = (count, count, nil)
        refusal.begin(at: now, using: &random)
        return true
    }

    /// The peer says that it is asked too much: for a while there are no more than there are.
    mutating func restrain(at now: Int64, using random: inout some RandomNumberGenerator) {
        (ceiling, tried, reference) = (count, min(tried, count), nil)
        refusal.begin(at: now, using: &random)
    }

    /// All connections have been full for a while, something was still due, and this thread had time left: either there are too few of
    /// them, or the peer takes no more.
    ///
    /// - Parameter rate: pushes that were taken in a second of that while.
    /// - Returns: how many were in vain, and are to be closed.
    mutating func fill(rate: Double, at now: Int64, using random: inout some RandomNumberGenerator) -> Int {
        isLargeSince = nil
        filledAt = now
        guard !isStopped(at: now) else { return 0 }
        if seen.count != count { seen = (count, 0, 0) }
        seen.best = max(seen.best, rate)
        seen.spans += 1
        guard seen.spans >= PoolSize.spansMin else { return 0 }
        if let known = reference, known.count < count, now - known.at < PoolSize.referenceMemory {
            let share = Double(count) / Double(known.count) - 1
            if share >= PoolSize.tellingShare {
                guard seen.best >= known.rate * (1 + share * PoolSize.worthwhileShare) else {
                    // What is planned stays: it would come back at once.
                    let kept = max(known.count, min(needed, count))
                    defer { (count, tried, reference, seen) = (kept, kept, nil, (0, 0, 0)) }
                    futility.begin(at: now, using: &random)
                    return count - kept
                }
                reference = (count, seen.best, now)
            }
        } else {
            reference = (count, seen.best, now)
        }
        tried = min(limits.most, count + 1)
        return 0
    }

    /// Requests that TCP sends in the first round trip.
    static func firstRound(requestBytes: Int) -> Int { initialWindow / max(1, requestBytes) }

    /// How many connections bring so many pushes to their peer, and the answers back, in the planned time.
    static func needed(for demand: Int, over path: Path, _ limits: Limits) -> Int {
        let least = limits.leastHad
        guard demand > 0, limits.most > least else { return least }
        let planned = max(
            limits.reach.nanoseconds / Int64(plannedShare),
            Int64(demand) * (1_000_000_000 / Int64(pushesPerSecondMax)))
        // The last round trip is that of the last answer.
        let rounds = max(1, planned / max(1, path.roundTrip) - 1)
        var (carried, begun) = (0, firstRound(requestBytes: path.requestBytes))
        var round: Int64 = 0
        while round < rounds, begun < path.width {
            carried += max(1, begun)
            begun = max(1, begun) * 2
            round += 1
        }
        let (rest, overflows) = (rounds - round).multipliedReportingOverflow(by: Int64(max(1, path.width)))
        guard !overflows, rest < Int64(demand) else { return least }
        carried += Int(rest)
        return min(limits.most, max(least, (demand + carried - 1) / carried))
    }
}
