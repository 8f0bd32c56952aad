import FanfareFanOut
import FanfareLoop
import FanfareModel

/// Number of slots. `PoolSize` decides; this extension feeds it measurements and carries out its decisions.
extension ConnectionPool {
    /// Load between two reviews.
    struct Load {
        /// Start of the period.
        var since = MonotonicTime.always
        /// Nanoseconds for which the loop had slept by the start of the period.
        var idle: Int64 = 0
        var answered: UInt64 = 0
        var taken: UInt64 = 0
        /// `true` if not all connections were full, or nothing was due.
        var hadRoom = true
        /// Figures of the load up to the last review.
        var figures = TransportFigures()
    }

    struct Reviews {
        /// Time at which the next one is due.
        var due = MonotonicTime.always
        /// Time before which a pool that may still grow is not ready; set by the first review.
        var readyBy: MonotonicTime?
    }

    private static let reviewInterval = Duration.milliseconds(250)
    /// Maximum pause before the next connection is opened, in nanoseconds.
    private static let growthPause: Int64 = 20_000_000
    /// Refusals in a row, over at least `refusalTime`, after which a peer that is heard on another connection is assumed to want no more.
    private static let refusalsMax = 3
    /// Minimum time of refusals in a row: longer than a dead connection passes for a live one while a PING is pending.
    private static let refusalTime = Duration.seconds(10)
    /// Minimum time of refusals in the slot of a connection that was of use: an obstacle on the way may pass.
    private static let returnTime = Duration.seconds(600)
    /// Share of time asleep below which the shard's thread is the limit, or the machine, which does not run it.
    private static let idleShare = 0.2
    /// Factor by which a slow connection's answers take longer than those of the others.
    private static let slowFactor: Int64 = 4
    /// Minimum difference between a slow connection's answers and those of the others, in nanoseconds.
    private static let slowMargin: Int64 = 20_000_000
    /// Share of answers that take a push, below which the peer is the limit.
    private static let takenShare = 0.9
    /// Time after which a pool is ready even if it is smaller than it should be.
    private static let readyTime = Duration.seconds(10)

    /// `true` if there are as many slots as wanted, as far as is known now.
    var isLargeEnough: Bool {
        if !choosesSize || source.demand == 0 { return true }
        let now = now().monotonic
        return plannedPath != nil && !(size.isGrowing(at: now) && mayGrow(at: now) && !share.isStopped(at: now))
    }

    /// Returns `true` if the pool may grow. More connections make it worse while the service is in trouble or wants us to be slower.
    func mayGrow(at now: MonotonicTime) -> Bool {
        gate.isOpen && trouble == nil && 2 * slots.count { $0.connection?.isReduced(at: now) == true } < slots.count
    }

    func review(at moment: Moment) {
        let now = moment.monotonic
        reviews.due = now + ConnectionPool.reviewInterval
        reviews.readyBy = reviews.readyBy ?? now + ConnectionPool.readyTime
        guard !isClosing else { return }
        judgePace(at: moment)
        if choosesSize, load.hadRoom { for slot in slots { slot.connection?.renewDistance(at: now) } }
        let path = path(at: now)
        // The width of a connection that is full may be that of the moment.
        // While none of the connections has measured it, the former path is the best guess: all may have been replaced.
        if let path, load.hadRoom || plannedPath == nil { plannedPath = path }
        // The first pushes of a load show how late a peer answers.
        if let service, let planned = plannedPath { plannedPath?.roundTrip = max(planned.roundTrip, service) }
        size.note(demand: source.demand, at: now)
        size.review(plannedPath, at: now)
        judgeLoad(path, at: moment)
        guard choosesSize else { return }
        if size.shrinks(at: now) { removeSlot(at: moment) }
        grow(at: now)
    }

    /// Begins connections one after the other, with as many concurrent handshakes as for replacements: at a great distance, growing
    /// one handshake at a time would take half a minute. Begins none while another connection has failed to open or has gone.
    private func grow(at now: MonotonicTime) {
        let opening = slots.filter { $0.connection?.isOpen != true }
        guard opening.allSatisfy(\.isUntried) else { return }
        var opens = now
        for _ in 0..<max(0, dialsMax - opening.count) {
            guard size.isGrowing(at: now), mayGrow(at: now), share.grow(at: now) else { return }
            size.grow()
            var slot = ConnectionSlot()
            slot.isUntried = true
            opens = opens.advanced(byNanoseconds: Int64.random(in: 0...ConnectionPool.growthPause, using: &random))
            slot.opensAt = opens
            slots.append(slot)
        }
    }

    /// Removes the slot of a connection that the peer has not taken, if several were begun. One of them is enough to find
    /// out whether the peer wants no more.
    ///
    /// - Returns: `true` if the slot is gone.
    func takeBack(_ index: Int) -> Bool {
        guard slots[index].isUntried, connectionsOpen > 0,
            slots.contains(where: { !$0.isUntried && $0.connection?.isOpen != true })
        else { return false }
        size.takeBack()
        remove(index)
        return true
    }

    /// Returns the time of the next review if no event occurs before it.
    func nextReview(at now: MonotonicTime) -> MonotonicTime? {
        if size.isGrowing(at: now), mayGrow(at: now), !share.isStopped(at: now) { return reviews.due }
        return size.shrinksAt.map { max($0, reviews.due) }
    }

    /// Minimum of connections on which pushes that were alone have been answered, before their times are believed: one answer may be late for
    /// its token, a lost segment, or a pause of this machine.
    private static let witnessesMin = 4

    /// Nanoseconds of the quickest answer to a push that was alone on its connection; the peer's work may take longer than the way to it and back.
    private var service: Int64? {
        let open = slots.lazy.compactMap(\.connection).filter(\.isOpen)
        let times = open.compactMap(\.times.service.least)
        guard times.count >= min(ConnectionPool.witnessesMin, max(2, open.count)) else { return nil }
        return times.min()
    }

    /// Median of the measurements of the open connections.
    private func path(at now: MonotonicTime) -> PoolSize.Path? {
        PoolSize.Path.median(
            of: slots.lazy.compactMap(\.connection).filter(\.isOpen).compactMap { connection in
                connection.times.roundTrip.least.map {
                    PoolSize.Path(
                        roundTrip: $0, width: connection.width(bodyBytes: bodySize.usual, at: now),
                        streams: connection.streamsAllowed(at: now), requestBytes: requestBytes)
                }
            })
    }

    /// Usual size of a push, in bytes.
    private var requestBytes: Int { bodySize.usual + RequestBytes.besideBody }

    /// Requests that a connection may have in flight after its first answer: as many as TCP sends by then.
    var widthAtFirst: Int { max(2, PoolSize.firstRound(requestBytes: requestBytes)) }

    private func judgePace(at moment: Moment) {
        let now = moment.monotonic
        let open = slots.compactMap(\.connection).filter(\.isOpen)
        let known = open.filter { $0.times.pace.notedAt.map { now - $0 < Slowness.memory } ?? false }
        // The quicker one of two connections shows what the other could be.
        let paces = known.compactMap(\.times.pace.least).sorted()
        let middle = paces.count > 1 ? paces[(paces.count - 1) / 2] : nil
        let limit = middle.map { max($0 * ConnectionPool.slowFactor, $0 + ConnectionPool.slowMargin) }
        for connection in open {
            connection.times.compare(to: middle, at: now)
            connection.times.judge(limit: limit, at: now)
            guard connection.times.slowness.stays(at: now), replaceLater(connection, at: now) else { continue }
            report(
                "\(configuration.endpoint) answers far more slowly on a connection than on others; it is replaced",
                at: now)
        }
    }

    private func judgeLoad(_ path: PoolSize.Path?, at moment: Moment) {
        let now = moment.monotonic
        let idle = loop.idleNanoseconds
        load.figures.roundTrip = plannedPath?.roundTrip ?? load.figures.roundTrip
        guard now - load.since >= ConnectionPool.reviewInterval else { return }
        let span = now.nanoseconds(since: load.since)
        var figures = load.figures
        figures.limit = limit(path, isBusy: Double(idle - load.idle) < Double(span) * ConnectionPool.idleShare, at: now)
        if figures.limit != .nothing, let place = TransportFigures.Limit.allCases.firstIndex(of: figures.limit) {
            figures.held[place] += span
        }
        let rate = Double(taken - load.taken) / (Double(span) / 1e9)
        load = Load(
            since: now, idle: idle, answered: statistics.answered, taken: taken, hadRoom: false, figures: figures)
        // The rate says nothing while connections still widen.
        guard isFull(figures.limit, at: now) else { return }
        guard let path = plannedPath,
            slots.allSatisfy({ $0.connection.map { $0.isOpen && !$0.isWidening } ?? false })
        else { return }
        guard !share.isStopped(at: now) else { return size.noteFull(at: now) }
        for _ in 0..<size.fill(rate: rate, over: path, at: now, using: &random) { removeSlot(at: moment) }
    }

    /// Returns `true` if this limit means that all connections are full. The limit is the peer while growth pauses, but all
    /// connections are full then, too.
    private func isFull(_ limit: TransportFigures.Limit, at now: MonotonicTime) -> Bool {
        limit == .streams || limit == .window || limit == .peer && isStopped(at: now)
    }

    /// Returns `true` while growth pauses, because tried connections were refused or brought nothing.
    private func isStopped(at now: MonotonicTime) -> Bool { size.isStopped(at: now) || share.isStopped(at: now) }

    /// Pushes that the peer has accepted, or whose tokens it has judged.
    private var taken: UInt64 { statistics.accepted + statistics.dead }

    private func limit(_ path: PoolSize.Path?, isBusy: Bool, at now: MonotonicTime) -> TransportFigures.Limit {
        if load.hadRoom { return .nothing }
        if isBusy { return .processor }
        let answered = Double(statistics.answered - load.answered)
        if !mayGrow(at: now) || isStopped(at: now)
            || Double(taken - load.taken) < answered * ConnectionPool.takenShare
        {
            return .peer
        }
        return path.map { $0.width < $0.streams } ?? false ? .window : .streams
    }

    /// Removes the slot that is worth least.
    private func removeSlot(at moment: Moment) {
        let index =
            slots.firstIndex { $0.connection == nil } ?? slots.firstIndex { $0.isInDoubt }
            ?? slots.firstIndex { $0.connection?.times.slowness.isSlow == true } ?? slots.count - 1
        if let connection = remove(index) { leave(connection, at: moment) }
    }

    /// Removes the slot if the peer repeatedly does not take its connections, or ends them before they are of use, while it
    /// serves the others: such a peer wants no more than those.
    ///
    /// - Returns: `true` if the slot is gone.
    func giveUp(_ index: Int, at moment: Moment) -> Bool {
        let now = moment.monotonic
        // The end of a connection that has lasted, or was idle, says nothing about the permitted number of connections.
        guard choosesSize, slots[index].connection.map({ $0.hasLasted(at: now) || $0.record.wasEndedAtRest }) != true
        else {
            return false
        }
        let others = slots.indices.filter { $0 != index }.compactMap { slots[$0].connection }.filter(\.isOpen)
        guard let witness = others.max(by: { $0.lastReceived < $1.lastReceived }) else { return false }
        let since = slots[index].refusedSince ?? now
        slots[index].refusedSince = since
        slots[index].refusals += 1
        share.isStale = true
        let time = slots[index].hasCarried ? ConnectionPool.returnTime : ConnectionPool.refusalTime
        witness.askForSignOfLife(at: now)
        guard slots[index].refusals >= ConnectionPool.refusalsMax, now - since >= time,
            witness.lastReceived > since, size.refuse()
        else { return false }
        remove(index)
        noteRefusal(at: now)
        report("\(configuration.endpoint) takes no more than \(slots.count) connections", at: now)
        return true
    }

    /// Removes the slot if this process may open no more files and has connections: their present number is the maximum for a while.
    ///
    /// - Returns: `true` if the slot is gone.
    func doWithout(_ index: Int, at moment: Moment) -> Bool {
        let now = moment.monotonic
        guard choosesSize, connectionsOpen > 0 else { return false }
        let failed = slots[index].connection
        // Connections that were begun together with this one would fail alike.
        for other in slots.indices.reversed() where other != index && slots[other].isUntried {
            size.takeBack()
            if let connection = remove(other) { leave(connection, at: moment) }
        }
        guard let index = slots.firstIndex(where: { $0.connection === failed }), size.refuse() else { return false }
        remove(index)
        noteRefusal(at: now)
        report(
            "\(configuration.endpoint): no more than \(slots.count) connections, for this process may open "
                + "\(FileLimit.count) files (ulimit -n, LimitNOFILE)", at: now)
        return true
    }

    /// Makes the number of connections that there are the maximum of all the app's pools for a while.
    private func noteRefusal(at now: MonotonicTime) {
        noteSlots()
        share.refuse(at: now, using: &random)
    }

    /// - Returns: the connection that was in the slot.
    @discardableResult
    private func remove(_ index: Int) -> Connection? {
        share.isStale = true
        return slots.remove(at: index).connection
    }
}
