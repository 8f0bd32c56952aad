import FanfareHTTP2
import FanfareLoop
import FanfareModel

extension ConnectionPool: DialingPool {}

/// Handling of the events of connections: the pool passes them to its parts, and carries out the parts' decisions.
extension ConnectionPool {
    // MARK: Opening

    func openSlots(at moment: Moment) {
        var index = 0
        // A slot whose connection fails at once may be removed.
        while index < connections.count {
            if connections.opens(index, at: moment.monotonic) { open(index, at: moment) }
            index += 1
        }
    }

    private func open(_ index: Int, at moment: Moment) {
        connections.clear(index, at: moment.monotonic)?.drain(at: moment)
        let connection = connections.fill(index) { Connection(pool: self, serial: $0) }
        connection.open(at: moment.monotonic)
    }

    func certificateTime() -> Int64? { knownEndpoint.certificateTime(at: now(), using: &random) }

    func opened(_ connection: Connection) {
        connections.noteOpened(connection)
        service.health.opened()
        knownEndpoint.noteOpened()
        sizing.reviewSoon()
    }

    /// Handles a connection whose output has left.
    func drained(_ connection: Connection) {
        connections.mayHaveRoom(connection)
        guard exchange.mayHaveWork, !isClosing else { return }
        turn(at: now())
    }

    func connectionDidSucceed(_ connection: Connection) {
        if let address = connection.opening?.address { knownEndpoint.trust(address) }
        connections.noteSuccess(of: connection)
    }

    func doubtAddress(of connection: Connection, at now: MonotonicTime) {
        if let opening = connection.opening { knownEndpoint.doubt(opening, at: now) }
    }

    // MARK: Replacements

    /// Drains a connection and frees its slot for another one, which opens soon if the old one was useful.
    func replace(_ connection: Connection, at moment: Moment) {
        if connections.replace(connection, at: moment.monotonic, using: &random) { connection.drain(at: moment) }
    }

    /// Replaces a connection like `replace`, but leaves it in its slot until the next one may open.
    ///
    /// - Returns: `true` if the connection was not in doubt before.
    func replaceLater(_ connection: Connection, at now: MonotonicTime) -> Bool {
        guard connections.replaceLater(connection, at: now, using: &random) else { return false }
        doubtAddress(of: connection, at: now)
        return true
    }

    /// Replaces a useless connection. Several in a row are reported to operators, and each costs a longer wait than the one before.
    func replaceInVain(_ connection: Connection, _ why: String, _ kind: PoolTrouble.Kind, at moment: Moment) {
        let now = moment.monotonic
        if connections.hasSlot(connection) {
            let text = "\(why) on one connection after the other; pushes wait"
            if service.health.noteVain(kind, text, at: now) { report(text, at: now) }
        }
        guard noteRefusal(of: connection, at: now) else { return replace(connection, at: moment) }
        let left = connections.giveUpSlot(of: connection)
        limitSize(at: now)
        left?.drain(at: moment)
    }

    /// Replaces connections that have seen an expired JWT, before a new JWT is first used: some of APNs' servers would refuse it there.
    ///
    /// - Returns: `true` if there was such a connection.
    func replaceThoseThatSawExpiredJWT(at moment: Moment) -> Bool {
        let old = connections.members.filter(\.record.hasSeenExpiredJWT)
        for connection in old { replace(connection, at: moment) }
        return !old.isEmpty
    }

    /// Replaces all connections, because a connection belongs to the key that was first used on it (spec §9.2, documented).
    func changeKey(to serial: UInt64, at moment: Moment) {
        tokens.changeKey(to: serial)
        service.changeKey()
        report("the provider key has changed; connections are replaced", at: moment.monotonic)
        for connection in connections.replaceAll(at: moment.monotonic, using: &random) { connection.drain(at: moment) }
    }

    /// - Parameter reason: `nil` for an ordinary end, which is not reported if the connection was useful.
    func connectionReceivedGoAway(_ connection: Connection, _ code: ErrorCode, reason: String?, at moment: Moment) {
        let now = moment.monotonic
        // A complaint about a quiet connection does not mean that there are too many.
        if code == .enhanceYourCalm, connections.hasSlot(connection), connection.isBusy(at: now) {
            sizing.restrain(at: now, using: &random)
        }
        let what = "\(configuration.endpoint) ends a connection: \(reason ?? "no reason given")"
        let wasOfUse =
            connection.record.hasSucceeded || connection.hasLasted(at: now) || connection.record.wasEndedAtRest
        if reason != nil || !wasOfUse { report("\(what); it is replaced", at: now) }
        if wasOfUse {
            replace(connection, at: moment)
        } else {
            replaceInVain(connection, what, .service, at: moment)
        }
    }

    /// Replaces a connection whose SETTINGS have allowed no request for a while.
    func connectionAllowsNothing(_ connection: Connection, at moment: Moment) {
        let what = "\(configuration.endpoint) allows no requests"
        report("\(what) on a connection; it is replaced", at: moment.monotonic)
        replaceInVain(connection, what, .service, at: moment)
    }

    // MARK: Ends

    /// - Parameter lingers: the connection carries nothing any more but is not closed yet; `ended` is called once more when it is.
    func ended(_ connection: Connection, _ ending: ConnectionEnding, at moment: Moment, lingers: Bool = false) {
        let now = moment.monotonic
        connections.noteEnd(of: connection, ending, lingers: lingers)
        if connections.hasSlot(connection) {
            let wait = connections.wait(after: connection, ending, at: now, using: &random)
            // Other slots may be removed with it.
            if !removesSlot(of: connection, ending, at: moment) {
                connections.vacateSlot(of: connection, for: wait, at: now)
            }
        }
        switch ending {
        case .drained: break
        case .notOpened(let text), .outOfFiles(let text):
            let line = "\(text); trying again"
            if connectionsOpen == 0 { trouble(.connection, line, at: now) } else { report(line, at: now) }
        case .lost(let text):
            report("\(text); connecting again", at: now)
            if connectionsOpen == 0 { service.health.noteLoss(text, at: now) }
        }
    }

    /// Removes the slot of a connection that has ended, if there are to be fewer.
    ///
    /// - Returns: `true` if the slot is gone.
    private func removesSlot(of connection: Connection, _ ending: ConnectionEnding, at moment: Moment) -> Bool {
        guard !isClosing else { return false }
        switch ending {
        case .outOfFiles: return doWithout(connection, at: moment)
        case .notOpened where connections.takeBack(connection):
            sizing.takeBack()
            return true
        default:
            guard !connection.record.carriedTraffic, noteRefusal(of: connection, at: moment.monotonic) else {
                return false
            }
            connections.removeSlot(of: connection)
            limitSize(at: moment.monotonic)
            return true
        }
    }

    /// Notes that the peer has not taken a connection, or ended it before it was useful.
    ///
    /// - Returns: `true` if the peer repeatedly does so and the pool can do without the connection, whose slot is to be removed.
    private func noteRefusal(of connection: Connection, at now: MonotonicTime) -> Bool {
        connections.noteRefusal(of: connection, at: now) && sizing.giveUpOne()
    }

    /// Makes the number of connections that the peer has left the maximum for a while.
    private func limitSize(at now: MonotonicTime) {
        pauseGrowth(at: now)
        report("\(configuration.endpoint) takes no more than \(connections.count) connections", at: now)
    }

    /// Removes the slot if this process may open no more files and has connections: their present number is the maximum for a while.
    ///
    /// - Returns: `true` if the slot is gone.
    private func doWithout(_ connection: Connection, at moment: Moment) -> Bool {
        guard choosesSize, connectionsOpen > 0 else { return false }
        // Connections that were begun together with this one would fail alike.
        let others = connections.removeUntried(except: connection)
        sizing.takeBack(others.count)
        for other in others.left { other.drain(at: moment) }
        guard connections.hasSlot(connection), sizing.giveUpOne() else { return false }
        connections.removeSlot(of: connection)
        pauseGrowth(at: moment.monotonic)
        report(
            "\(configuration.endpoint): no more than \(connections.count) connections, for this process may open "
                + "\(FileLimit.count) files (ulimit -n, LimitNOFILE)", at: moment.monotonic)
        return true
    }

    /// Makes the number of connections the maximum of all the app's pools for a while, after a slot was removed.
    private func pauseGrowth(at now: MonotonicTime) {
        sizing.noteTaken(connections.taken())
        sizing.pauseGrowth(at: now, using: &random)
    }

    // MARK: Reviews

    /// Returns `true` if the pool may grow. More connections make it worse while the service is in trouble or wants us to be slower.
    func mayGrow(at now: MonotonicTime) -> Bool { service.isWell && !connections.isReduced(at: now) }

    func review(at moment: Moment) {
        let now = moment.monotonic
        for connection in connections.judgePaces(at: now) {
            guard replaceLater(connection, at: now) else { continue }
            report(
                "\(configuration.endpoint) answers far more slowly on a connection than on others; it is replaced",
                at: now)
        }
        if choosesSize, sizing.hadRoom { for connection in connections.members { connection.renewDistance(at: now) } }
        for _ in 0..<sizing.review(observation(at: now), at: now, using: &random) { closeOne(at: moment) }
        guard choosesSize else { return }
        if sizing.shrinks(at: now) { closeOne(at: moment) }
        guard mayGrow(at: now) else { return }
        connections.add(sizing.grow(upTo: connections.beginnable, at: now), at: now, using: &random)
    }

    private func observation(at now: MonotonicTime) -> PoolSizing.Observation {
        let members = connections.members
        let bodySize = exchange.bodySize.usual
        let statistics = exchange.statistics
        return PoolSizing.Observation(
            path: PoolSize.Path.median(
                of: members.filter(\.isOpen).compactMap { $0.path(bodySize: bodySize, at: now) }),
            service: connections.quickestService, demand: exchange.demand,
            work: PoolSizing.Work(
                idle: loop.idleNanoseconds, answered: statistics.answered,
                taken: statistics.accepted + statistics.dead),
            mayGrow: mayGrow(at: now),
            areWide: members.count == connections.count && members.allSatisfy { $0.isOpen && !$0.isWidening })
    }

    /// Closes the connection that is worth least, and gives up its slot.
    private func closeOne(at moment: Moment) { connections.removeLeastUseful()?.drain(at: moment) }
}
