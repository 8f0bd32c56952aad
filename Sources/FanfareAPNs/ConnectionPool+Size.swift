import FanfareCore
import FanfareLoop

/// How many seats there are. `PoolSize` decides; here is what it is told, and what is done about it.
extension ConnectionPool {
    /// What was seen between two reviews.
    struct Load {
        /// Monotonic nanoseconds, and those of the loop's sleep.
        var since: Int64 = 0
        var idle: Int64 = 0
        var answered: UInt64 = 0
        /// Not all connections were full, or nothing was due.
        var hadRoom = true
        /// What they came to.
        var figures = TransportFigures()
    }

    private static let reviewInterval: Int64 = 250_000_000
    /// Before the next connection is opened, at most.
    private static let growthPause: Int64 = 20_000_000
    private static let refusalsMax = 3
    /// Of its time, below which the thread's sleep says that it is what everybody waits for, or the machine, which does not let it run.
    private static let idleShare = 0.2
    /// A connection is slow if an answer takes so many times as long as with the others, and so much longer.
    private static let slowFactor: Int64 = 4
    private static let slowMargin: Int64 = 20_000_000

    /// As many connections are open as are wanted, as far as can be known by now.
    var isLargeEnough: Bool {
        let now = now().monotonicNanoseconds
        if size.isFixed || source.demand == 0 { return true }
        return path != nil && !(size.isGrowing(at: now) && mayGrow)
    }

    /// Where the service is in trouble, more connections make it worse.
    private var mayGrow: Bool { gate.isOpen && trouble == nil }

    func review(at moment: Moment) {
        let now = moment.monotonicNanoseconds
        reviewDue = now + ConnectionPool.reviewInterval
        guard !isClosing else { return }
        markSlow(at: now)
        let path = path
        size.note(demand: source.demand, at: now)
        size.review(path, at: now)
        judgeLoad(path, at: moment)
        guard !size.isFixed else { return }
        if size.shrinks(at: now) { removeSeat(seats.count - 1, at: moment) }
        // One after the other.
        guard size.isGrowing(at: now), mayGrow, seats.allSatisfy({ $0.connection?.isOpen == true }) else { return }
        size.grow()
        var seat = Seat()
        seat.opensAt = now + Int64.random(in: 0...ConnectionPool.growthPause, using: &random)
        seats.append(seat)
    }

    /// When the next review is due without anything having happened.
    func nextReview(at now: Int64) -> Int64? {
        if size.isGrowing(at: now), mayGrow { return reviewDue }
        return size.shrinksAt.map { max($0, reviewDue) }
    }

    /// What the middle one of the connections has measured.
    private var path: PoolSize.Path? {
        let known = seats.lazy.compactMap(\.connection).filter(\.isOpen)
        guard let roundTrip = ConnectionPool.middle(known.compactMap(\.roundTrip.least)),
            let width = ConnectionPool.middle(known.map { Int64($0.width(bodyBytes: self.bodyBytes)) }),
            let streams = ConnectionPool.middle(known.map { Int64($0.streamsAllowed) })
        else { return nil }
        return PoolSize.Path(
            roundTrip: roundTrip, width: Int(width), streams: Int(streams),
            requestBytes: bodyBytes + ConnectionPool.headerBytes)
    }

    /// Of a push beside its body: path, JWT where it is new, frames, TLS.
    private static let headerBytes = 110

    private static func middle(_ values: [Int64]) -> Int64? {
        values.isEmpty ? nil : values.sorted()[values.count / 2]
    }

    private func markSlow(at now: Int64) {
        let open = seats.compactMap(\.connection).filter(\.isOpen)
        let middle = ConnectionPool.middle(open.compactMap(\.roundTrip.least)) ?? 0
        let limit = max(middle * ConnectionPool.slowFactor, middle + ConnectionPool.slowMargin)
        for connection in open { connection.isSlow = open.count > 2 && connection.roundTrip.least ?? 0 > limit }
    }

    private func judgeLoad(_ path: PoolSize.Path?, at moment: Moment) {
        let now = moment.monotonicNanoseconds
        let idle = loop.idleNanoseconds
        let span = now - load.since
        guard span >= ConnectionPool.reviewInterval else { return }
        var figures = load.figures
        figures.roundTrip = path?.roundTrip ?? figures.roundTrip
        figures.limit = limit(path, isBusy: Double(idle - load.idle) < Double(span) * ConnectionPool.idleShare, at: now)
        if figures.limit != .nothing, let place = TransportFigures.Limit.allCases.firstIndex(of: figures.limit) {
            figures.held[place] += span
        }
        let rate = Double(statistics.answered - load.answered) / (Double(span) / 1e9)
        load = Load(since: now, idle: idle, answered: statistics.answered, hadRoom: false, figures: figures)
        // While connections still grow wide, what they bring says nothing.
        guard figures.limit == .streams || figures.limit == .window,
            seats.allSatisfy({ $0.connection.map { $0.isOpen && !$0.isNarrow } ?? false }),
            size.fill(rate: rate, at: now, using: &random)
        else { return }
        removeSeat(seats.count - 1, at: moment)
    }

    private func limit(_ path: PoolSize.Path?, isBusy: Bool, at now: Int64) -> TransportFigures.Limit {
        if load.hadRoom { return .nothing }
        if isBusy { return .processor }
        if !mayGrow || size.isStopped(at: now) { return .peer }
        return path.map { $0.width < $0.streams } ?? false ? .window : .streams
    }

    private func removeSeat(_ index: Int, at moment: Moment) {
        let connection = seats.remove(at: index).connection
        lastPulled = 0
        if let connection { leave(connection, at: moment) }
    }

    /// The seat's connection was not taken, or ended before it was of use. A peer that goes on with the others, and again and again
    /// not with this one, wants no more than those.
    ///
    /// - Returns: whether the seat is gone.
    func giveUp(_ index: Int, at moment: Moment) -> Bool {
        guard !size.isFixed, connectionsOpen > (seats[index].connection?.isOpen == true ? 1 : 0) else { return false }
        seats[index].refusals += 1
        let now = moment.monotonicNanoseconds
        guard seats[index].refusals >= ConnectionPool.refusalsMax, size.refuse(at: now, using: &random) else {
            return false
        }
        seats.remove(at: index)
        lastPulled = 0
        report("\(configuration.endpoint) takes no more than \(seats.count) connections", at: now)
        return true
    }
}
