import FanfareFanOut
import FanfareModel

/// The number of connections that a pool should have. A review, four times a second, compares what the connections have carried with
/// what is due; `PoolSize` decides, within the pool's share of the quota.
final class PoolSizing {
    /// Measurements that a review uses.
    struct Observation {
        /// Median of the open connections' measurements; `nil` if none of them has measured.
        let path: ConnectionPath?
        /// Time of the quickest answer to a push that was alone; `nil` if there are too few.
        let service: Duration?
        /// Pushes that are due at once, or will be.
        let demand: Int
        let work: Work
        /// `true` if more connections would not make it worse.
        let mayGrow: Bool
        /// `true` if all connections are open and as wide as they become.
        let areWide: Bool
    }

    /// Totals since the pool was made.
    struct Work {
        /// Time for which the loop has slept.
        var idle = Duration.zero
        /// Pushes with an outcome.
        var answered: UInt64 = 0
        /// Pushes that the peer has accepted, or whose tokens it has judged.
        var taken: UInt64 = 0
    }

    /// Load between two reviews.
    private struct Load {
        /// Start of the period.
        var since = MonotonicTime.always
        /// Totals at the start of the period.
        var before = Work()
        /// `true` if not all connections were full, or nothing was due.
        var hadRoom = true
        /// Figures of the load up to the last review.
        var figures = TransportFigures()
    }

    private static let interval = Duration.milliseconds(250)
    /// Time after which a pool is ready even if it is smaller than it should be.
    private static let readyTime = Duration.seconds(10)
    /// Share of time asleep below which the shard's thread is the limit, or the machine, which does not run it.
    private static let idleShare = 0.2
    /// Share of answers that take a push, below which the peer is the limit.
    private static let takenShare = 0.9

    private let share: QuotaShare
    private var size: PoolSize
    // Unchecked for the reason given in `Connection`.
    @safe @exclusivity(unchecked) private var load = Load()
    /// Time at which the next review is due.
    @safe @exclusivity(unchecked) private var due = MonotonicTime.always
    /// Time before which a pool that may still grow is not ready; set by the first review.
    private var readyBy: MonotonicTime?
    /// Path to the peer without a queue.
    private(set) var plannedPath: ConnectionPath?

    init(_ limits: PoolSize.Limits, _ share: QuotaShare) {
        self.share = share
        size = PoolSize(limits)
    }

    /// Ends the pool's part of the quota.
    func leave() { share.leave() }

    /// Number of connections that the pool should have now.
    var count: Int { size.count }

    /// Minimum number of connections.
    var least: Int { size.limits.leastHad }

    /// Figures of the load up to the last review.
    var figures: TransportFigures { load.figures }

    /// `true` if not all connections were full since the last review, or nothing was due.
    var hadRoom: Bool { load.hadRoom }

    /// `true` if the time of a PING is to count as the distance: no queue delays it, or nothing else is known.
    var measuresDistance: Bool { load.hadRoom || plannedPath == nil }

    func noteRoom() { load.hadRoom = true }

    // MARK: Reviews

    /// Begins a review if one is due.
    func beginsReview(at now: MonotonicTime) -> Bool {
        guard now >= due else { return false }
        due = now + PoolSizing.interval
        readyBy = readyBy ?? now + PoolSizing.readyTime
        return true
    }

    /// Makes a review due at once.
    func reviewSoon() { due = .always }

    /// Returns the time of the next review if no event occurs before it.
    func nextReview(at now: MonotonicTime, mayGrow: @autoclosure () -> Bool) -> MonotonicTime? {
        if isGrowing(at: now, mayGrow: mayGrow()) { return due }
        return size.shrinksAt.map { max($0, due) }
    }

    /// Returns `true` if the pool has had time enough to be as large as it should be.
    func isReady(at now: MonotonicTime) -> Bool { readyBy.map { now >= $0 } ?? false }

    /// Reviews the number of connections.
    ///
    /// - Returns: the number of connections that brought nothing and are to be closed.
    func review(
        _ seen: Observation, at now: MonotonicTime, using random: inout some RandomNumberGenerator
    ) -> Int {
        // The width of a connection that is full may be that of the moment.
        // While none of the connections has measured it, the former path is the best guess: all may have been replaced.
        if let path = seen.path, load.hadRoom || plannedPath == nil { plannedPath = path }
        // The first pushes of a load show how late a peer answers.
        if let service = seen.service, let planned = plannedPath {
            plannedPath?.roundTrip = max(planned.roundTrip, service)
        }
        size.note(demand: seen.demand, at: now)
        size.review(plannedPath, at: now)
        return judgeLoad(seen, at: now, using: &random)
    }

    private func judgeLoad(
        _ seen: Observation, at now: MonotonicTime, using random: inout some RandomNumberGenerator
    ) -> Int {
        load.figures.roundTrip = plannedPath?.roundTrip ?? load.figures.roundTrip
        let span = now - load.since
        guard span >= PoolSizing.interval else { return 0 }
        var figures = load.figures
        figures.limit = limit(seen, in: span, at: now)
        if figures.limit != .nothing { figures.limitTimes[figures.limit, default: .zero] += span }
        let rate = Double(seen.work.taken - load.before.taken) / (span / Duration.seconds(1))
        load = Load(since: now, before: seen.work, hadRoom: false, figures: figures)
        // The rate says nothing while connections still widen.
        guard isFull(figures.limit, at: now), let path = plannedPath, seen.areWide else { return 0 }
        guard !share.isStopped(at: now) else {
            size.noteFull(at: now)
            return 0
        }
        return size.fill(rate: rate, over: path, at: now, using: &random)
    }

    /// Returns `true` if this limit means that all connections are full. The limit is the peer while growth pauses, but all
    /// connections are full then, too.
    private func isFull(_ limit: TransportFigures.Limit, at now: MonotonicTime) -> Bool {
        limit == .streams || limit == .window || limit == .peer && isStopped(at: now)
    }

    /// Returns `true` while growth pauses, because tried connections were refused or brought nothing.
    private func isStopped(at now: MonotonicTime) -> Bool { size.isStopped(at: now) || share.isStopped(at: now) }

    /// - Parameter span: length of the period.
    private func limit(_ seen: Observation, in span: Duration, at now: MonotonicTime) -> TransportFigures.Limit {
        if load.hadRoom { return .nothing }
        if (seen.work.idle - load.before.idle) / span < PoolSizing.idleShare { return .processor }
        let answered = Double(seen.work.answered - load.before.answered)
        if !seen.mayGrow || isStopped(at: now)
            || Double(seen.work.taken - load.before.taken) < answered * PoolSizing.takenShare
        {
            return .peer
        }
        return seen.path.map { $0.width < $0.streams } ?? false ? .window : .streams
    }

    // MARK: Growth

    /// Returns `true` if more connections are to be opened, as far as is known now.
    ///
    /// - Parameter mayGrow: `true` if more connections would not make it worse.
    func isGrowing(at now: MonotonicTime, mayGrow: @autoclosure () -> Bool) -> Bool {
        size.isGrowing(at: now) && mayGrow() && !share.isStopped(at: now)
    }

    /// Grows by as many connections as are wanted.
    ///
    /// - Parameter most: number of connections that may begin together.
    /// - Returns: the number of connections to begin.
    func grow(upTo most: Int, at now: MonotonicTime) -> Int {
        var grown = 0
        while grown < most, size.isGrowing(at: now), share.grow(at: now) {
            size.grow()
            grown += 1
        }
        return grown
    }

    /// Takes back connections of those that were begun together.
    func takeBack(_ count: Int = 1) {
        for _ in 0..<count { size.takeBack() }
    }

    /// Reduces the number of connections after a long quiet time.
    ///
    /// - Returns: `true` if one is to be closed.
    func shrinks(at now: MonotonicTime) -> Bool { size.shrinks(at: now) }

    // MARK: Refusals

    /// Gives up a connection that the peer or this machine refused.
    ///
    /// - Returns: `false` if the pool would have too few without it.
    func giveUpOne() -> Bool { size.refuse() }

    /// Reports to the quota the number of connections that the peer has taken.
    func noteTaken(_ count: Int) { share.note(taken: count) }

    /// Makes the number of connections that there are the maximum of all the app's pools for a while.
    func pauseGrowth(at now: MonotonicTime, using random: inout some RandomNumberGenerator) {
        share.refuse(at: now, using: &random)
    }

    /// Tries no more connections for a while, because the peer complains about too much load.
    func restrain(at now: MonotonicTime, using random: inout some RandomNumberGenerator) {
        size.restrain()
        share.refuse(at: now, using: &random)
    }

    /// Describes a contradiction in the size; `nil` if there is none. For tests.
    func violation() -> String? { size.violation() }
}
