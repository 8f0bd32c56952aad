import FanfareHTTP2
import FanfareLoop
import FanfareModel

/// Seats and the connections in them: who is dialled, what ends a connection, and when the next one comes.
extension ConnectionPool {
    func openSeats(at moment: Moment) {
        guard !isClosing else { return }
        var index = 0
        // A seat whose connection fails at once may be given up.
        while index < seats.count {
            let now = moment.monotonicNanoseconds
            if wantsDialing(index, at: now), mayDial(index) { open(index, at: moment) }
            index += 1
        }
    }

    /// Handshakes under way at a time where the app's pools choose how many connections there are, which share four: however many have
    /// ended together, they come back a few at a time. One that nobody answers is not to hold up all others.
    var dialsMax: Int { max(2, 4 / configuration.pools) }

    /// While nobody answers, a few seats ask for all: those that have begun to.
    func mayDial(_ index: Int) -> Bool {
        guard choosesSize else { return true }
        if connectionsOpen > 0 { return seats.count { $0.connection?.isDialing == true } < dialsMax }
        let most = max(2, size.limits.leastHad)
        // Those that ask go on in order, for as many as may: an outage in which they have ended one after the other leaves many of them.
        let others = seats[index].isAsking ? seats[..<index].count(where: \.isAsking) : seats.count(where: \.isAsking)
        return others < most
    }

    /// Nobody has said how many connections there are.
    var choosesSize: Bool { configuration.connections == nil }

    func wantsDialing(_ index: Int, at now: Int64) -> Bool {
        seats[index].opensAt <= now && (seats[index].connection == nil || seats[index].isInDoubt)
    }

    func open(_ index: Int, at moment: Moment) {
        if let doubted = seats[index].connection {
            noteUse(of: doubted, at: index, now: moment.monotonicNanoseconds)
            seats[index].connection = nil
            seats[index].isInDoubt = false
            leave(doubted, at: moment)
        }
        connectionSerial += 1
        let connection = Connection(pool: self, serial: connectionSerial)
        seats[index].connection = connection
        connection.open(at: moment.monotonicNanoseconds)
    }

    /// At which a server's certificate is to be valid. A machine that was paused for days goes by a time that nobody can refute without a
    /// connection: where a certificate is refused, the system's clock has its turns.
    ///
    /// - Returns: Unix seconds; `nil`: the system's clock.
    func certificateTime() -> Int64? {
        certificateIsInDoubt && Bool.random(using: &random) ? nil : now().wallSeconds
    }

    /// Something has happened on the connection, so that it may have room now.
    func mayHaveRoom(_ connection: Connection) { candidates.add(connection) }

    /// What it had to write has left.
    func drained(_ connection: Connection) {
        candidates.add(connection)
        guard sourceMayHaveWork, !isClosing else { return }
        turn(at: now())
    }

    func opened(_ connection: Connection) {
        statistics.connectionsOpened += 1
        if let index = seats.firstIndex(where: { $0.connection === connection }) {
            seats[index].dialBackoff.reset()
            seats[index].isUntried = false
        }
        if trouble?.kind == .connection { trouble = nil }
        certificateIsInDoubt = false
        reviewDue = .min
    }

    /// It has processed so many pushes that whatever comes next is no continuation of old trouble.
    func proved(_ connection: Connection) {
        if let address = connection.address { addressDoubts.forget(address) }
        guard let index = seats.firstIndex(where: { $0.connection === connection }) else { return }
        seats[index].forgetTrouble()
    }

    /// - Parameter reason: `nil` for the ordinary end of a connection, which is no news once it has done its work.
    func connectionWasToldToGo(_ connection: Connection, _ code: ErrorCode, reason: String?, at moment: Moment) {
        let now = moment.monotonicNanoseconds
        // Who complains of a quiet one does not mean that there are too many.
        if code == .enhanceYourCalm, isSeated(connection), connection.isBusy(at: now) {
            size.restrain(at: now, using: &random)
        }
        let what = "\(configuration.endpoint) ends a connection: \(reason ?? "no reason given")"
        let wasOfUse = connection.isProved || connection.hasLasted(at: now) || connection.wasEndedAtRest
        if reason != nil || !wasOfUse { report("\(what); it is replaced", at: now) }
        if wasOfUse {
            replace(connection, at: moment)
        } else {
            replaceInVain(connection, what, .service, at: moment)
        }
    }

    /// Its SETTINGS have allowed no request for a while.
    func connectionAllowsNothing(_ connection: Connection, at moment: Moment) {
        let what = "\(configuration.endpoint) allows no requests"
        report("\(what) on a connection; it is replaced", at: moment.monotonicNanoseconds)
        replaceInVain(connection, what, .service, at: moment)
    }

    func isSeated(_ connection: Connection) -> Bool { seats.contains { $0.connection === connection } }

    /// The connection takes no more requests and ends with those in flight; its seat is free for another one, soon if the old one
    /// was of use.
    func replace(_ connection: Connection, at moment: Moment) {
        guard let index = seats.firstIndex(where: { $0.connection === connection }) else { return }
        if connection.wasWorthwhile || connection.hasLasted(at: moment.monotonicNanoseconds) {
            // A server that goes tells all of its clients, and each of them on all of its connections.
            vacate(index, for: .nanoseconds(Int64.random(in: 0...spread(of: index), using: &random)), at: moment)
        } else {
            vacate(index, for: nextWait(index, at: moment.monotonicNanoseconds), at: moment)
        }
        leave(connection, at: moment)
    }

    /// Nanoseconds over which connections that were told to go come back: of many, twenty in a second, those of the app's other pools,
    /// which are told as well, included. People wait for the first ones where none is left: those of all pools come in a third of a second.
    func spread(of index: Int) -> Int64 {
        guard choosesSize else { return max(250_000_000, 50_000_000 * Int64(seats.count)) }
        let least = size.limits.leastHad
        if index < least { return max(250_000_000, 10_000_000 * Int64(least * configuration.pools)) }
        return max(250_000_000, 50_000_000 * Int64(seats.count * configuration.pools))
    }

    func leave(_ connection: Connection, at moment: Moment) {
        draining.append(connection)
        connection.drain(at: moment)
    }

    /// As `replace`, but the connection keeps its seat until the next one may be opened.
    /// - Returns: whether it was not in doubt before.
    func replaceLater(_ connection: Connection, at now: Int64) -> Bool {
        guard let index = seats.firstIndex(where: { $0.connection === connection }), !seats[index].isInDoubt else {
            return false
        }
        seats[index].isInDoubt = true
        doubtAddress(of: connection, at: now)
        seats[index].opensAt = replacementOpens(index, after: nextWait(index, at: now), at: now)
        return true
    }

    /// Until the seat's next connection, behind the one that is in it.
    func nextWait(_ index: Int, at now: Int64) -> Duration {
        if seats[index].connection?.hasLasted(at: now) == true {
            seats[index].forgetTrouble()
        }
        if seats[index].connection?.wasEndedAtRest == true { return seats[index].restBackoff.next(using: &random) }
        return seats[index].backoff.next(using: &random)
    }

    func doubtAddress(of connection: Connection, at now: Int64) {
        guard let address = connection.address, let openedAt = connection.openedAt else { return }
        addressDoubts.note(address, openedAt: openedAt, at: now)
    }

    /// It has answered well after all.
    func trust(_ connection: Connection) {
        guard let index = seats.firstIndex(where: { $0.connection === connection }), seats[index].isInDoubt else {
            return
        }
        giveBackReplacement(of: connection)
        seats[index].isInDoubt = false
    }

    /// The connection was in doubt, and is not to be replaced for that any more.
    func giveBackReplacement(of connection: Connection) {
        if !connection.hasEarnedAnother { replacements.giveBack(pools: configuration.pools) }
    }

    /// - Parameter lingers: it carries nothing any more, but is not closed yet, and ends once more when it is.
    func ended(_ connection: Connection, _ ending: Connection.Ending, at moment: Moment, lingers: Bool = false) {
        let now = moment.monotonicNanoseconds
        draining.removeAll { $0 === connection }
        candidates.remove(connection)
        if lingers { draining.append(connection) }
        if let index = seats.firstIndex(where: { $0.connection === connection }) {
            let wait: Duration =
                switch ending {
                case .notOpened, .outOfFiles: seats[index].dialBackoff.next(using: &random)
                case .drained, .lost: connection.wasWorthwhile ? .zero : nextWait(index, at: now)
                }
            let isGone =
                switch ending {
                case .outOfFiles: !isClosing && doWithout(index, at: moment)
                case .notOpened where !isClosing && takeBack(index): true
                default: !connection.wasWorthwhile && !isClosing && giveUp(index, at: moment)
                }
            // Others may be gone with it.
            if !isGone, let index = seats.firstIndex(where: { $0.connection === connection }) {
                vacate(index, for: wait, at: moment)
            }
        }
        switch ending {
        case .drained: break
        case .notOpened(let text), .outOfFiles(let text):
            statistics.connectFailures += 1
            let line = "\(text); trying again"
            if connectionsOpen == 0 { trouble(.connection, line, at: now) } else { report(line, at: now) }
        case .lost(let text):
            statistics.connectionsLost += 1
            report("\(text); connecting again", at: now)
            if connectionsOpen == 0 { trouble = trouble ?? Trouble(kind: .connection, text: text, since: now) }
        }
    }

    /// A connection gives its seat up.
    func noteUse(of connection: Connection, at index: Int, now: Int64) {
        if connection.wasWorthwhile || connection.hasLasted(at: now) { seats[index].hasCarried = true }
    }

    func vacate(_ index: Int, for wait: Duration, at moment: Moment) {
        if let connection = seats[index].connection {
            noteUse(of: connection, at: index, now: moment.monotonicNanoseconds)
        }
        // It has been counted when it came to be in doubt.
        if seats[index].isInDoubt, let doubted = seats[index].connection { giveBackReplacement(of: doubted) }
        seats[index].opensAt = replacementOpens(index, after: wait, at: moment.monotonicNanoseconds)
        seats[index].connection = nil
        seats[index].isInDoubt = false
        seats[index].isUntried = false
    }

    /// - Parameter index: of the seat, which still has the connection that is to be replaced.
    func replacementOpens(_ index: Int, after wait: Duration, at now: Int64) -> Int64 {
        guard choosesSize, seats[index].connection?.hasEarnedAnother != true else { return now + wait.nanoseconds }
        return replacements.next(
            after: wait.nanoseconds, seats: seats.count, pools: configuration.pools, at: now)
    }
}
