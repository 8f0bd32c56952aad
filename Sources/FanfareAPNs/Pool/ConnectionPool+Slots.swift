import FanfareHTTP2
import FanfareLoop
import FanfareModel

/// Slots and their connections: dialling, endings, and replacements.
extension ConnectionPool {
    func openSlots(at moment: Moment) {
        guard !isClosing else { return }
        var index = 0
        // A slot whose connection fails at once may be removed.
        while index < slots.count {
            let now = moment.monotonic
            if wantsDialing(index, at: now), mayDial(index) { open(index, at: moment) }
            index += 1
        }
    }

    /// Maximum number of concurrent handshakes. The app's pools share four if they choose their sizes, so that connections that
    /// ended together return a few at a time; a pool has two at least, so that one unanswered handshake does not block the others.
    var dialsMax: Int { max(2, 4 / share.pools) }

    /// Returns `true` if the slot may dial now. Only a few slots dial while no connection is open: those that have already begun.
    func mayDial(_ index: Int) -> Bool {
        guard choosesSize else { return true }
        if connectionsOpen > 0 { return slots.count { $0.connection?.isDialing == true } < dialsMax }
        // Slots that have dialled go on in order, up to the maximum: an outage in which connections ended one after the
        // other leaves many of them.
        let others = slots[index].isAsking ? slots[..<index].count(where: \.isAsking) : slots.count(where: \.isAsking)
        return others < ConnectionPool.dialsAlone
    }

    /// Maximum number of slots that dial while no connection is open.
    private static let dialsAlone = 2

    /// `true` if the configuration does not fix the number of connections.
    var choosesSize: Bool { configuration.connections == nil }

    func wantsDialing(_ index: Int, at now: MonotonicTime) -> Bool {
        slots[index].opensAt <= now && (slots[index].connection == nil || slots[index].isInDoubt)
    }

    func open(_ index: Int, at moment: Moment) {
        if let doubted = slots[index].connection {
            noteUse(of: doubted, at: index, now: moment.monotonic)
            slots[index].connection = nil
            slots[index].isInDoubt = false
            leave(doubted, at: moment)
        }
        connectionSerial += 1
        let connection = Connection(pool: self, serial: connectionSerial)
        slots[index].connection = connection
        connection.open(at: moment.monotonic)
    }

    /// Returns the time at which a server's certificate must be valid. A machine that was suspended for days may use a time that
    /// nothing can refute without a connection; so half of the handshakes use the system's clock once a certificate has been refused.
    ///
    /// - Returns: Unix seconds; `nil` for the system's clock.
    func certificateTime() -> Int64? {
        health.certificateIsInDoubt && Bool.random(using: &random) ? nil : now().wallSeconds
    }

    /// Adds a connection on which an event has occurred, so that it may have room now.
    func mayHaveRoom(_ connection: Connection) { candidates.add(connection) }

    /// Handles a connection whose output has left.
    func drained(_ connection: Connection) {
        candidates.add(connection)
        guard sourceMayHaveWork, !isClosing else { return }
        turn(at: now())
    }

    func opened(_ connection: Connection) {
        statistics.connectionsOpened += 1
        if let index = slots.firstIndex(where: { $0.connection === connection }) {
            slots[index].dialBackoff.reset()
            slots[index].isUntried = false
        }
        health.opened()
        share.isStale = true
        reviews.due = .always
    }

    /// Clears the trouble of the slot, whose connection has processed so many pushes that a later failure is unrelated.
    func connectionDidSucceed(_ connection: Connection) {
        if let address = connection.opening?.address { addressDoubts.forget(address) }
        guard let index = slots.firstIndex(where: { $0.connection === connection }) else { return }
        slots[index].forgetTrouble()
        share.isStale = true
    }

    /// - Parameter reason: `nil` for an ordinary end, which is not reported if the connection was of use.
    func connectionReceivedGoAway(_ connection: Connection, _ code: ErrorCode, reason: String?, at moment: Moment) {
        let now = moment.monotonic
        // A complaint about a quiet connection does not mean that there are too many.
        if code == .enhanceYourCalm, hasSlot(connection), connection.isBusy(at: now) {
            size.restrain()
            share.refuse(at: now, using: &random)
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

    func hasSlot(_ connection: Connection) -> Bool { slots.contains { $0.connection === connection } }

    /// Drains a connection and frees its slot for another one, which opens soon if the old one was of use.
    func replace(_ connection: Connection, at moment: Moment) {
        guard let index = slots.firstIndex(where: { $0.connection === connection }) else { return }
        if connection.record.carriedTraffic || connection.hasLasted(at: moment.monotonic) {
            // A server that shuts down notifies all its clients, and each of them on all its connections.
            vacate(index, for: .nanoseconds(Int64.random(in: 0...spread(of: index), using: &random)), at: moment)
        } else {
            vacate(index, for: nextWait(index, at: moment.monotonic), at: moment)
        }
        leave(connection, at: moment)
    }

    /// Returns the nanoseconds over which replacements of ended connections spread: twenty per second if there are many,
    /// including the app's other pools, which lose theirs as well. The first connections come sooner, because pushes wait
    /// for them if none is left: those of all pools open within a third of a second.
    func spread(of index: Int) -> Int64 {
        guard choosesSize else { return max(250_000_000, 50_000_000 * Int64(slots.count)) }
        let least = size.limits.leastHad
        if index < least { return max(250_000_000, 10_000_000 * Int64(least * share.pools)) }
        return max(250_000_000, 50_000_000 * Int64(slots.count * share.pools))
    }

    func leave(_ connection: Connection, at moment: Moment) {
        draining.append(connection)
        connection.drain(at: moment)
    }

    /// Replaces a connection like `replace`, but leaves it in its slot until the next one may open.
    /// - Returns: `true` if the connection was not in doubt before.
    func replaceLater(_ connection: Connection, at now: MonotonicTime) -> Bool {
        guard let index = slots.firstIndex(where: { $0.connection === connection }), !slots[index].isInDoubt else {
            return false
        }
        slots[index].isInDoubt = true
        doubtAddress(of: connection, at: now)
        slots[index].opensAt = replacementOpens(index, after: nextWait(index, at: now), at: now)
        return true
    }

    /// Returns the wait before the slot's next connection.
    func nextWait(_ index: Int, at now: MonotonicTime) -> Duration {
        if slots[index].connection?.hasLasted(at: now) == true {
            slots[index].forgetTrouble()
            share.isStale = true
        }
        if slots[index].connection?.record.wasEndedAtRest == true {
            return slots[index].restBackoff.next(using: &random)
        }
        return slots[index].backoff.next(using: &random)
    }

    /// Tells the quota how many connections the peer has taken.
    func noteSlots() {
        share.note(taken: slots.count(where: \.isTaken))
    }

    func doubtAddress(of connection: Connection, at now: MonotonicTime) {
        guard let opening = connection.opening else { return }
        addressDoubts.note(opening.address, openedAt: opening.at, at: now)
    }

    /// Clears the doubt about a connection that has answered well after all.
    func trust(_ connection: Connection) {
        guard let index = slots.firstIndex(where: { $0.connection === connection }), slots[index].isInDoubt else {
            return
        }
        giveBackReplacement(of: connection)
        slots[index].isInDoubt = false
    }

    /// Gives back the counted replacement of a connection in doubt, which is no longer to be replaced for that.
    func giveBackReplacement(of connection: Connection) {
        if !connection.record.hasEarnedAnother { replacements.giveBack(pools: share.pools) }
    }

    /// - Parameter lingers: the connection carries nothing any more but is not closed yet; `ended` is called once more when it is.
    func ended(_ connection: Connection, _ ending: Connection.Ending, at moment: Moment, lingers: Bool = false) {
        let now = moment.monotonic
        draining.removeAll { $0 === connection }
        candidates.remove(connection)
        if lingers { draining.append(connection) }
        if let index = slots.firstIndex(where: { $0.connection === connection }) {
            let wait: Duration =
                switch ending {
                case .notOpened, .outOfFiles: slots[index].dialBackoff.next(using: &random)
                case .drained, .lost: connection.record.carriedTraffic ? .zero : nextWait(index, at: now)
                }
            let isGone =
                switch ending {
                case .outOfFiles: !isClosing && doWithout(index, at: moment)
                case .notOpened where !isClosing && takeBack(index): true
                default: !connection.record.carriedTraffic && !isClosing && giveUp(index, at: moment)
                }
            // Other slots may have been removed with it.
            if !isGone, let index = slots.firstIndex(where: { $0.connection === connection }) {
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
            if connectionsOpen == 0 { health.noteLoss(text, at: now) }
        }
    }

    /// Records whether a connection that leaves its slot was of use.
    func noteUse(of connection: Connection, at index: Int, now: MonotonicTime) {
        if connection.record.carriedTraffic || connection.hasLasted(at: now) { slots[index].hasCarried = true }
    }

    func vacate(_ index: Int, for wait: Duration, at moment: Moment) {
        if let connection = slots[index].connection {
            noteUse(of: connection, at: index, now: moment.monotonic)
        }
        // The replacement was counted when the connection came into doubt.
        if slots[index].isInDoubt, let doubted = slots[index].connection { giveBackReplacement(of: doubted) }
        slots[index].opensAt = replacementOpens(index, after: wait, at: moment.monotonic)
        slots[index].connection = nil
        slots[index].isInDoubt = false
        slots[index].isUntried = false
        share.isStale = true
    }

    /// Returns the time at which a replacement may open.
    ///
    /// - Parameter index: index of the slot, which still holds the connection to be replaced.
    func replacementOpens(_ index: Int, after wait: Duration, at now: MonotonicTime) -> MonotonicTime {
        guard choosesSize, slots[index].connection?.record.hasEarnedAnother != true else { return now + wait }
        return replacements.next(after: wait, slots: slots.count, pools: share.pools, at: now)
    }
}
