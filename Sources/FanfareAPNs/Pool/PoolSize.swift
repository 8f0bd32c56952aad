import FanfareModel

/// Decides the number of a pool's connections, so that all pushes due at once reach the last activity within `reach`.
///
/// A connection carries as many pushes in a round trip as its peer allows, and fewer during TCP's slow start; a farther peer
/// leaves fewer round trips in the time. Connections are opened one after the other and before they are needed, because
/// opening takes several round trips. They are kept, because APNs considers many new ones an attack (spec §10). More
/// connections than the peer wants, or than increase throughput, make it worse; growth pauses then for a while.
struct PoolSize {
    struct Limits: Sendable, Equatable {
        /// Time from a change to the last activity of the largest audience.
        var reach: Duration = .seconds(2)
        /// Minimum number of connections; APNs asks for several rather than bursts on few (spec §10).
        var least = 2
        var most = 64

        static func exactly(_ count: Int) -> Limits { Limits(least: count, most: count) }

        var leastHad: Int { max(1, min(least, most)) }
    }

    /// Divisor of `reach` for the planned time. The rest is for a goal's delays elsewhere, and for a path that is worse than measured.
    private static let plannedShare = 4
    /// Maximum number of pushes that a shard's thread sends per second; fewer if a machine runs several such threads.
    private static let pushesPerSecondMax = 1_000_000
    /// Bytes that TCP sends in the first round trip, also after idleness; they double with each further one (RFC 6928, RFC 5681 §4.1).
    private static let initialWindow = 14_600
    /// Share of the connections; a need below it closes one after `shrinkAfter`, and another one each `shrinkInterval`.
    private static let shrinkShare = 0.75
    static let shrinkAfter = Duration.seconds(600)
    static let shrinkInterval = Duration.seconds(60)
    /// Time for which the demand, and a load that filled all connections, are remembered.
    static let memory = Duration.seconds(1800)

    let limits: Limits
    /// Number of connections that the pool should have now; the pool opens or closes connections accordingly.
    private(set) var count: Int
    /// Connections needed for the known demand.
    private var needed: Int
    /// Connections tried because of the observed load.
    private var tried = 0
    /// Pause after more connections have brought nothing.
    private var futility = Pause()
    /// Time at which `shrinks` may next return `true`; `nil` while fewer connections would not do.
    private(set) var shrinksAt: MonotonicTime?
    /// Time at which all connections were last full. Connections that were opened for such a load are kept for the next one.
    private var filledAt: MonotonicTime?
    /// Largest demand of the last half-hour to hour.
    private var demand = RecentPeak<Int>(memory: PoolSize.memory)
    /// Observation with all connections full: their present number, their rates' sum, and the number of measurements.
    private var seen = (count: 0, rates: 0.0, spans: 0)
    /// Earlier observation with all connections full, which later ones are compared with, however old it is: goals are far apart, and
    /// connections that are never compared would become more with each of them.
    private var reference: (count: Int, rate: Double, path: ConnectionPath)?
    /// Time at which the rates over another path began, which do not compare with those before.
    private var pathChangedAt: MonotonicTime?
    /// Time for which a path is the same before connections are tried over it.
    private static let steadyTime = Duration.seconds(10)
    /// Minimum number of measurements before a rate is believed. Answers arrive in reads, so one measurement says little.
    private static let spansMin = 4
    /// Minimum number of measurements before connections are closed for having brought nothing: few show a low rate by chance.
    private static let futileSpansMin = 12
    /// Share of the expected gain that more connections must bring.
    private static let worthwhileShare = 0.5
    /// Minimum growth, as a share, that distinguishes a gain from chance.
    private static let significantShare = 0.25
    /// Ratio of two distances, or of two sizes of a request, from which on the rates over them do not compare.
    private static let comparableRatio = 1.25

    init(_ limits: Limits) {
        self.limits = limits
        count = limits.leastHad
        needed = count
    }

    /// Records the number of pushes that are due at once, or will be.
    mutating func note(demand due: Int, at now: MonotonicTime) { demand.note(due, at: now) }

    /// Updates the number of connections needed.
    ///
    /// - Parameter path: path without a queue; `nil` while no connection has measured it.
    mutating func review(_ path: ConnectionPath?, at now: MonotonicTime) {
        guard let path else { return shrinksAt = nil }
        needed = PoolSize.needed(for: demand.value, over: path, limits)
        guard Double(needed) <= Double(count) * PoolSize.shrinkShare,
            filledAt.map({ now - $0 >= PoolSize.memory }) ?? true
        else { return shrinksAt = nil }
        shrinksAt = shrinksAt ?? now + PoolSize.shrinkAfter
    }

    /// Returns `true` if more connections are to be opened.
    func isGrowing(at now: MonotonicTime) -> Bool {
        count < (futility.isOver(at: now) ? max(needed, tried) : needed)
    }

    /// Returns `true` while growth pauses, because tried connections brought nothing.
    func isStopped(at now: MonotonicTime) -> Bool { !futility.isOver(at: now) }

    /// Adds a connection, which is not yet known to work.
    mutating func grow() { count += 1 }

    /// Takes back one of several added connections that the peer did not take; the pool tries another one of them alone.
    mutating func takeBack() { count -= 1 }

    /// Reduces the number of connections after a long quiet time.
    ///
    /// - Returns: `true` if one is to be closed.
    mutating func shrinks(at now: MonotonicTime) -> Bool {
        guard let shrinksAt, now >= shrinksAt, count > limits.leastHad else { return false }
        self.shrinksAt = now + PoolSize.shrinkInterval
        count -= 1
        tried = min(tried, count)
        return true
    }

    /// Removes a connection that the peer or this machine refused.
    ///
    /// - Returns: `true` if the connection may be given up.
    mutating func refuse() -> Bool {
        guard count > limits.leastHad else { return false }
        count -= 1
        (tried, reference) = (count, nil)
        return true
    }

    /// Tries no more connections than there are, because the peer complains about too much load.
    mutating func restrain() { (tried, reference) = (min(tried, count), nil) }

    /// Records that all connections have been full for a while. They are kept for the next such load.
    mutating func noteFull(at now: MonotonicTime) {
        shrinksAt = nil
        filledAt = now
    }

    /// Records that all connections have been full for a while, that something was still due, and that this thread had time
    /// left: either there are too few connections, or the peer takes no more.
    ///
    /// - Parameters:
    ///   - rate: pushes taken per second in that time.
    ///   - path: path without a queue. Connections carry less of larger bodies and over a longer way, which is not their fault.
    /// - Returns: the number of connections that brought nothing and are to be closed.
    mutating func fill(
        rate: Double, over path: ConnectionPath, at now: MonotonicTime, using random: inout some RandomNumberGenerator
    ) -> Int {
        noteFull(at: now)
        guard !isStopped(at: now) else { return 0 }
        if let known = reference, !known.path.isComparable(to: path, within: PoolSize.comparableRatio) {
            (reference, seen, pathChangedAt) = (nil, (count, 0, 0), now)
        }
        if seen.count != count { seen = (count, 0, 0) }
        seen.rates += rate
        seen.spans += 1
        guard seen.spans >= PoolSize.spansMin else { return 0 }
        let mean = seen.rates / Double(seen.spans)
        if let known = reference, known.count < count {
            let share = Double(count) / Double(known.count) - 1
            if share >= PoolSize.significantShare {
                guard mean >= known.rate * (1 + share * PoolSize.worthwhileShare) else {
                    guard seen.spans >= PoolSize.futileSpansMin else { return 0 }
                    // The planned number stays, because the pool would return to it at once.
                    let kept = max(known.count, min(needed, count))
                    defer { (count, tried, reference, seen) = (kept, kept, nil, (0, 0, 0)) }
                    futility.begin(at: now, using: &random)
                    return count - kept
                }
                reference = (count, mean, path)
            }
        } else {
            reference = (count, mean, path)
        }
        // A path that changes with each goal would add a connection with each of them.
        if pathChangedAt.map({ now - $0 >= PoolSize.steadyTime }) ?? true { tried = min(limits.most, count + 1) }
        return 0
    }

    /// Describes a number of connections out of its limits; `nil` if there is none. For tests.
    func violation() -> String? {
        let most = max(limits.most, limits.leastHad)
        guard (limits.leastHad...most).contains(count) else { return "\(count) connections, of \(limits)" }
        return max(needed, tried) <= most ? nil : "\(needed) needed and \(tried) tried, of \(limits)"
    }

    /// Returns the number of requests that TCP sends in the first round trip.
    static func requestsAtFirst(requestSize: ByteCount) -> Int { initialWindow / max(1, requestSize.bytes) }

    /// Returns the number of connections that bring this many pushes to their peer, and the answers back, in the planned time.
    static func needed(for demand: Int, over path: ConnectionPath, _ limits: Limits) -> Int {
        let least = limits.leastHad
        guard demand > 0, limits.most > least else { return least }
        let planned = max(limits.reach / plannedShare, Duration.seconds(1) / pushesPerSecondMax * demand)
        // Parts of a round trip count as such: a number that jumps would change with each millisecond of the distance. One round trip is left
        // for the last answer.
        let roundTrip = max(.nanoseconds(1), path.roundTrip)
        var roundTrips = max(1, planned / roundTrip - 1)
        let width = Double(max(1, path.width))
        var (carried, window) = (0.0, Double(max(1, requestsAtFirst(requestSize: path.requestSize))))
        while roundTrips > 0, window < width {
            carried += window * min(1, roundTrips)
            window *= 2
            roundTrips -= 1
        }
        carried += width * max(0, roundTrips)
        // Compared before it is converted: the quotient may be larger than any integer.
        let count = (Double(demand) / carried).rounded(.up)
        return count < Double(limits.most) ? max(least, Int(count)) : limits.most
    }
}
