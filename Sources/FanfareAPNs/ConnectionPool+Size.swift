import FanfareFanOut
import FanfareLoop
import FanfareModel

/// How many seats there are. `PoolSize` decides; here is what it is told, and what is done about it.
extension ConnectionPool {
    /// What was seen between two reviews.
    struct Load {
        /// Monotonic nanoseconds, and those of the loop's sleep.
        var since: Int64 = 0
        var idle: Int64 = 0
        var answered: UInt64 = 0
        var taken: UInt64 = 0
        /// Not all connections were full, or nothing was due.
        var hadRoom = true
        /// What they came to.
        var figures = TransportFigures()
    }

    private static let reviewInterval: Int64 = 250_000_000
    /// Before the next connection is opened, at most.
    private static let growthPause: Int64 = 20_000_000
    /// A peer that does not take a connection so often and for so long, and is heard on another one meanwhile, wants no more. It is
    /// longer than a dead connection passes for a live one while it is asked.
    private static let refusalsMax = 3
    private static let refusalTime: Int64 = 10 * 1_000_000_000
    /// The same of the place of a connection that was of use: what keeps another one away may be on the way, and pass.
    private static let returnTime: Int64 = 600 * 1_000_000_000
    /// Of its time. A thread that sleeps less is what everybody waits for, or the machine is, which does not let it run.
    private static let idleShare = 0.2
    /// A connection is slow if an answer takes so many times as long as with the others, and so much longer.
    private static let slowFactor: Int64 = 4
    private static let slowMargin: Int64 = 20_000_000
    /// Of its answers: a peer that takes fewer pushes than that is what everybody waits for.
    private static let takenShare = 0.9
    /// After it a pool is ready though it is not as large as it wants to be.
    private static let readyTime: Int64 = 10 * 1_000_000_000

    /// There are as many seats as are wanted, as far as can be known by now.
    var isLargeEnough: Bool {
        if !choosesSize || source.demand == 0 { return true }
        let now = now().monotonicNanoseconds
        return plannedPath != nil && !(size.isGrowing(at: now) && mayGrow(at: now))
    }

    /// Where the service is in trouble, or wants us to be slower, more connections make it worse.
    func mayGrow(at now: Int64) -> Bool {
        gate.isOpen && trouble == nil && 2 * seats.count { $0.connection?.isHeldBack(at: now) == true } < seats.count
    }

    func review(at moment: Moment) {
        let now = moment.monotonicNanoseconds
        reviewDue = now + ConnectionPool.reviewInterval
        readyBy = readyBy ?? now + ConnectionPool.readyTime
        guard !isClosing else { return }
        judgePace(at: moment)
        let path = path
        // A queue, ours or the peer's, is no distance.
        if load.hadRoom || plannedPath == nil || path == nil { plannedPath = path }
        size.note(demand: source.demand, at: now)
        size.review(plannedPath, at: now)
        judgeLoad(path, at: moment)
        guard choosesSize else { return }
        if size.shrinks(at: now) { removeSeat(at: moment) }
        grow(at: now)
    }

    /// One connection begins after the other, and as many handshakes are under way as where connections come back. Far away they would
    /// take half a minute if each waited for the one before. Where one does not come, or has gone, no more are tried.
    private func grow(at now: Int64) {
        let opening = seats.filter { $0.connection?.isOpen != true }
        guard opening.allSatisfy(\.isUntried) else { return }
        var opens = now
        for _ in 0..<max(0, dialsMax - opening.count) {
            guard size.isGrowing(at: now), mayGrow(at: now) else { return }
            size.grow()
            var seat = Seat()
            seat.isUntried = true
            opens += Int64.random(in: 0...ConnectionPool.growthPause, using: &random)
            seat.opensAt = opens
            seats.append(seat)
        }
    }

    /// The peer has not taken one of several that were begun. One of them is enough to find out whether it wants no more.
    ///
    /// - Returns: whether the seat is gone.
    func takeBack(_ index: Int) -> Bool {
        guard seats[index].isUntried, connectionsOpen > 0,
            seats.contains(where: { !$0.isUntried && $0.connection?.isOpen != true })
        else { return false }
        size.takeBack()
        remove(index)
        return true
    }

    /// When the next review is due without anything having happened.
    func nextReview(at now: Int64) -> Int64? {
        if size.isGrowing(at: now), mayGrow(at: now) { return reviewDue }
        return size.shrinksAt.map { max($0, reviewDue) }
    }

    /// What the middle one of the connections has measured.
    private var path: PoolSize.Path? {
        let known = seats.lazy.compactMap(\.connection).filter(\.isOpen)
        guard let roundTrip = ConnectionPool.middle(known.compactMap(\.roundTrip.least)),
            let width = ConnectionPool.middle(known.map { Int64($0.width(bodyBytes: self.bodyBytesUsual)) }),
            let streams = ConnectionPool.middle(known.map { Int64($0.streamsAllowed) })
        else { return nil }
        return PoolSize.Path(
            roundTrip: roundTrip, width: Int(width), streams: Int(streams),
            requestBytes: requestBytes)
    }

    /// Of a push, the usual one.
    private var requestBytes: Int { bodyBytesUsual + RequestBytes.besideBody }

    /// Requests that a connection may have in flight when its first one has been answered: as many as TCP sends by then.
    var widthAtFirst: Int { max(2, PoolSize.firstRound(requestBytes: requestBytes)) }

    private static func middle(_ values: [Int64]) -> Int64? {
        values.isEmpty ? nil : values.sorted()[values.count / 2]
    }

    private func judgePace(at moment: Moment) {
        let now = moment.monotonicNanoseconds
        let open = seats.compactMap(\.connection).filter(\.isOpen)
        let known = open.filter { $0.pace.notedAt.map { now - $0 < Slowness.memory } ?? false }
        // Of two the quicker one is what the other could be.
        let paces = known.compactMap(\.pace.least).sorted()
        let middle = paces.count > 1 ? paces[(paces.count - 1) / 2] : nil
        let limit = middle.map { max($0 * ConnectionPool.slowFactor, $0 + ConnectionPool.slowMargin) }
        for connection in open {
            connection.slowness.compare(connection.pace, to: middle, at: now)
            connection.slowness.judge(connection.pace, limit: limit, at: now)
            guard connection.slowness.stays(at: now), replaceLater(connection, at: now) else { continue }
            report(
                "\(configuration.endpoint) answers far more slowly on a connection than on others; it is replaced",
                at: now)
        }
    }

    private func judgeLoad(_ path: PoolSize.Path?, at moment: Moment) {
        let now = moment.monotonicNanoseconds
        let idle = loop.idleNanoseconds
        let span = now - load.since
        load.figures.roundTrip = path?.roundTrip ?? load.figures.roundTrip
        guard span >= ConnectionPool.reviewInterval else { return }
        var figures = load.figures
        figures.limit = limit(path, isBusy: Double(idle - load.idle) < Double(span) * ConnectionPool.idleShare, at: now)
        if figures.limit != .nothing, let place = TransportFigures.Limit.allCases.firstIndex(of: figures.limit) {
            figures.held[place] += span
        }
        let rate = Double(taken - load.taken) / (Double(span) / 1e9)
        load = Load(
            since: now, idle: idle, answered: statistics.answered, taken: taken, hadRoom: false, figures: figures)
        // While connections still grow wide, what they bring says nothing.
        guard size.isFull(figures.limit, at: now),
            seats.allSatisfy({ $0.connection.map { $0.isOpen && !$0.isWidening } ?? false })
        else { return }
        for _ in 0..<size.fill(rate: rate, at: now, using: &random) { removeSeat(at: moment) }
    }

    /// Pushes that the peer has taken, or has judged the tokens of.
    private var taken: UInt64 { statistics.accepted + statistics.dead }

    private func limit(_ path: PoolSize.Path?, isBusy: Bool, at now: Int64) -> TransportFigures.Limit {
        if load.hadRoom { return .nothing }
        if isBusy { return .processor }
        let answered = Double(statistics.answered - load.answered)
        if !mayGrow(at: now) || size.isStopped(at: now)
            || Double(taken - load.taken) < answered * ConnectionPool.takenShare
        {
            return .peer
        }
        return path.map { $0.width < $0.streams } ?? false ? .window : .streams
    }

    /// The one that is worth least.
    private func removeSeat(at moment: Moment) {
        let index =
            seats.firstIndex { $0.connection == nil } ?? seats.firstIndex { $0.isInDoubt }
            ?? seats.firstIndex { $0.connection?.isSlow == true } ?? seats.count - 1
        if let connection = remove(index) { leave(connection, at: moment) }
    }

    /// The seat's connection was not taken, or ended before it was of use. A peer that goes on with the others, and again and again
    /// not with this one, wants no more than those.
    ///
    /// - Returns: whether the seat is gone.
    func giveUp(_ index: Int, at moment: Moment) -> Bool {
        let now = moment.monotonicNanoseconds
        // The end of one that has lasted, or had nothing to do, says nothing of how many there may be.
        guard choosesSize, seats[index].connection.map({ $0.hasLasted(at: now) || $0.wasEndedAtRest }) != true else {
            return false
        }
        let others = seats.indices.filter { $0 != index }.compactMap { seats[$0].connection }.filter(\.isOpen)
        guard let witness = others.max(by: { $0.lastHeard < $1.lastHeard }) else { return false }
        let since = seats[index].refusedSince ?? now
        seats[index].refusedSince = since
        seats[index].refusals += 1
        let time = seats[index].hasCarried ? ConnectionPool.returnTime : ConnectionPool.refusalTime
        witness.askForSignOfLife(at: now)
        guard seats[index].refusals >= ConnectionPool.refusalsMax, now - since >= time,
            witness.lastHeard > since, size.refuse(at: now, using: &random)
        else { return false }
        remove(index)
        report("\(configuration.endpoint) takes no more than \(seats.count) connections", at: now)
        return true
    }

    /// This process may open no more files, and has connections: for a while they are as many as there are.
    ///
    /// - Returns: whether the seat is gone.
    func doWithout(_ index: Int, at moment: Moment) -> Bool {
        let now = moment.monotonicNanoseconds
        guard choosesSize, connectionsOpen > 0 else { return false }
        let failed = seats[index].connection
        // Those that were begun with it would fail alike.
        for other in seats.indices.reversed() where other != index && seats[other].isUntried {
            size.takeBack()
            if let connection = remove(other) { leave(connection, at: moment) }
        }
        guard let index = seats.firstIndex(where: { $0.connection === failed }),
            size.refuse(at: now, using: &random)
        else { return false }
        remove(index)
        report(
            "\(configuration.endpoint): no more than \(seats.count) connections, for this process may open "
                + "\(FileLimit.count) files (ulimit -n, LimitNOFILE)", at: now)
        return true
    }

    /// - Returns: the connection that was in the seat.
    @discardableResult
    private func remove(_ index: Int) -> Connection? {
        seats.remove(at: index).connection
    }
}
