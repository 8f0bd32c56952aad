import FanfareHTTP2
import FanfareLoop
import FanfareModel

/// Layer that keeps a pool's connections: opens and replaces them, handles their ends, and reviews their number. It passes events to its parts, and
/// carries out their decisions.
final class ConnectionUpkeep {
    private let configuration: PoolConfiguration
    private let reporter: ServiceReporter
    private let commons: ConnectionCommons
    let connections: ConnectionSet<Connection>
    let sizing: PoolSizing
    let knownEndpoint: KnownEndpoint
    private var random = SystemRandomNumberGenerator()

    /// - Throws: `LoopError` for an unusable CA file.
    init(_ configuration: PoolConfiguration, _ reporter: ServiceReporter) throws {
        self.configuration = configuration
        self.reporter = reporter
        commons = ConnectionCommons(configuration)
        knownEndpoint = KnownEndpoint(try TLSContext.client(caFile: configuration.endpoint.caFile))
        let share = configuration.quota.join()
        sizing = PoolSizing(ConnectionUpkeep.limits(of: configuration, share), share)
        connections = ConnectionSet(
            count: sizing.count, least: sizing.least, choosesSize: configuration.choosesSize, pools: share.pools)
    }

    private static func limits(of configuration: PoolConfiguration, _ share: QuotaShare) -> PoolSize.Limits {
        // One connection per pool is enough if there are several pools; all of them are served if the peer takes as many.
        configuration.connections.map { .exactly($0) }
            ?? PoolSize.Limits(reach: configuration.reach, least: share.pools > 1 ? 1 : 2, most: share.most)
    }

    /// Tells the quota how many connections the peer has taken, if that may have changed.
    func noteTaken() {
        if connections.hasChanged { sizing.noteTaken(connections.taken()) }
    }

    // MARK: Opening

    /// - Parameter owner: the pool that the connections call back.
    func openSlots(for owner: any ConnectionOwner, at moment: Moment) {
        var index = 0
        // A slot whose connection fails at once may be removed.
        while index < connections.count {
            if connections.opens(index, at: moment.monotonic) { open(index, for: owner, at: moment) }
            index += 1
        }
    }

    private func open(_ index: Int, for owner: any ConnectionOwner, at moment: Moment) {
        connections.clear(index, at: moment.monotonic)?.drain(at: moment)
        let connection = connections.fill(index) { Connection(of: owner, commons, serial: $0) }
        connection.open(at: moment.monotonic)
    }

    func opened(_ connection: Connection) {
        connections.noteOpened(connection)
        reporter.service.health.opened()
        knownEndpoint.noteOpened()
        sizing.reviewSoon()
    }

    func answeredPing(stays: Bool) {
        sizing.reviewSoon()
        if stays { reporter.service.health.stays() }
    }

    /// Handles the answer with which a connection has succeeded often enough for a short wait after its end.
    func succeeded(_ connection: Connection) {
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
            if reporter.service.health.noteVain(kind, text, at: now) { reporter.report(text, at: now) }
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

    /// Replaces all connections by those of another key.
    func replaceAll(at moment: Moment) {
        for connection in connections.replaceAll(at: moment.monotonic, using: &random) { connection.drain(at: moment) }
    }

    /// - Parameter reason: `nil` for an ordinary end, which is not reported if the connection was useful.
    func receivedGoAway(_ connection: Connection, _ code: ErrorCode, reason: String?, at moment: Moment) {
        let now = moment.monotonic
        // A complaint about a quiet connection does not mean that there are too many.
        if code == .enhanceYourCalm, connections.hasSlot(connection), connection.isBusy(at: now) {
            sizing.restrain(at: now, using: &random)
        }
        let what = "\(configuration.endpoint) ends a connection: \(reason ?? "no reason given")"
        let wasOfUse =
            connection.record.hasSucceeded || connection.hasLasted(at: now) || connection.record.wasEndedAtRest
        if reason != nil || !wasOfUse { reporter.report("\(what); it is replaced", at: now) }
        if wasOfUse {
            replace(connection, at: moment)
        } else {
            replaceInVain(connection, what, .service, at: moment)
        }
    }

    /// Replaces a connection whose SETTINGS have allowed no request for a while.
    func allowsNothing(_ connection: Connection, at moment: Moment) {
        let what = "\(configuration.endpoint) allows no requests"
        reporter.report("\(what) on a connection; it is replaced", at: moment.monotonic)
        replaceInVain(connection, what, .service, at: moment)
    }

    // MARK: Ends

    /// - Parameter lingers: the connection carries nothing any more but is not closed yet; `ended` is called once more when it is.
    func ended(
        _ connection: Connection, _ ending: ConnectionEnding, lingers: Bool, isClosing: Bool, at moment: Moment
    ) {
        let now = moment.monotonic
        connections.noteEnd(of: connection, ending, lingers: lingers)
        if connections.hasSlot(connection) {
            let wait = connections.wait(after: connection, ending, at: now, using: &random)
            // Other slots may be removed with it.
            if isClosing || !removesSlot(of: connection, ending, at: moment) {
                connections.vacateSlot(of: connection, for: wait, at: now)
            }
        }
        switch ending {
        case .drained: break
        case .notOpened(let text), .outOfFiles(let text):
            let line = "\(text); trying again"
            if connections.openCount == 0 {
                reporter.trouble(.connection, line, at: now)
            } else {
                reporter.report(line, at: now)
            }
        case .lost(let text):
            reporter.report("\(text); connecting again", at: now)
            if connections.openCount == 0 { reporter.service.health.noteLoss(text, at: now) }
        }
    }

    /// Removes the slot of a connection that has ended, if there are to be fewer.
    ///
    /// - Returns: `true` if the slot is gone.
    private func removesSlot(of connection: Connection, _ ending: ConnectionEnding, at moment: Moment) -> Bool {
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
        reporter.report("\(configuration.endpoint) takes no more than \(connections.count) connections", at: now)
    }

    /// Removes the slot if this process may open no more files and has connections: their present number is the maximum for a while.
    ///
    /// - Returns: `true` if the slot is gone.
    private func doWithout(_ connection: Connection, at moment: Moment) -> Bool {
        guard configuration.choosesSize, connections.openCount > 0 else { return false }
        // Connections that were begun together with this one would fail alike.
        let others = connections.removeUntried(except: connection)
        sizing.takeBack(others.count)
        for other in others.left { other.drain(at: moment) }
        guard connections.hasSlot(connection), sizing.giveUpOne() else { return false }
        connections.removeSlot(of: connection)
        pauseGrowth(at: moment.monotonic)
        reporter.report(
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
    func mayGrow(at now: MonotonicTime) -> Bool { reporter.service.isWell && !connections.isReduced(at: now) }

    /// Reviews the number of connections.
    ///
    /// - Parameters:
    ///   - work: totals since the pool was made.
    ///   - demand: pushes that are due at once, or will be.
    ///   - bodySize: usual size of a body.
    func review(_ work: PoolSizing.Work, demand: Int, bodySize: ByteCount, at moment: Moment) {
        let now = moment.monotonic
        for connection in connections.judgeResponses(at: now) {
            guard replaceLater(connection, at: now) else { continue }
            reporter.report(
                "\(configuration.endpoint) answers far more slowly on a connection than on others; it is replaced",
                at: now)
        }
        if configuration.choosesSize, sizing.hadRoom {
            for connection in connections.members { connection.renewDistance(at: now) }
        }
        let seen = observation(work, demand: demand, bodySize: bodySize, at: now)
        for _ in 0..<sizing.review(seen, at: now, using: &random) { closeOne(at: moment) }
        guard configuration.choosesSize else { return }
        if sizing.shrinks(at: now) { closeOne(at: moment) }
        guard mayGrow(at: now) else { return }
        connections.add(sizing.grow(upTo: connections.beginnable, at: now), at: now, using: &random)
    }

    private func observation(
        _ work: PoolSizing.Work, demand: Int, bodySize: ByteCount, at now: MonotonicTime
    ) -> PoolSizing.Observation {
        let members = connections.members
        return PoolSizing.Observation(
            path: ConnectionPath.median(
                of: members.filter(\.isOpen).compactMap { $0.path(bodySize: bodySize, at: now) }),
            service: connections.quickestService, demand: demand, work: work, mayGrow: mayGrow(at: now),
            areWide: members.count == connections.count && members.allSatisfy { $0.isOpen && !$0.isWidening })
    }

    /// Closes the connection that is worth least, and gives up its slot.
    private func closeOne(at moment: Moment) { connections.removeLeastUseful()?.drain(at: moment) }

    // MARK: For tests

    /// Describes a contradiction in a part or in a connection, or another number of slots than the pool should have; `nil` if there is none.
    func violation() -> String? {
        guard connections.count == sizing.count else { return "\(connections.count) slots, of \(sizing.count)" }
        for connection in connections.everyMember {
            if let violation = connection.violation() { return "connection \(connection.serial): \(violation)" }
        }
        return connections.violation() ?? sizing.violation() ?? knownEndpoint.violation()
            ?? commons.lifespan.violation()
    }
}
