import FanfareModel

/// Connections of a pool: those in its slots, at most one in each, and those that drain.
///
/// The set decides when a slot dials and which connection leaves its slot. It makes, drains and ends no connection, because a connection calls its
/// pool back meanwhile: the pool drains the connections that the set returns, and reports the end of each to the set.
final class ConnectionSet<Member: PooledConnection> {
    /// `true` if the number of slots follows the need; `false` if the configuration fixes it.
    private let choosesSize: Bool
    /// Minimum number of slots.
    private let least: Int
    /// Number of pools that share the peer.
    private let pools: Int

    private var slots: [ConnectionSlot<Member>]
    /// Connections that take no new requests and wait for their last answers, or for the peer's close.
    private var draining: [Member] = []
    // Unchecked for the reason given in `Connection`.
    @safe @exclusivity(unchecked) private var candidates = Candidates<Member>()
    private var replacements = Replacements()
    /// Serial of the newest connection; `Suspects` identifies connections by their serials.
    private var newestSerial: UInt64 = 0
    /// `true` after an event that may have changed the number of connections that the peer has taken.
    @safe @exclusivity(unchecked) private(set) var hasChanged = true
    /// Number of connections that have opened.
    private(set) var opened: UInt64 = 0
    /// Number of opened connections that broke or fell silent.
    private(set) var lost: UInt64 = 0
    /// Number of attempts that never reached HTTP/2.
    private(set) var failed: UInt64 = 0

    // A generic type has no stored constants.

    /// Maximum number of slots that dial while no connection is open.
    private static var dialsAlone: Int { 2 }
    /// Maximum pause before the next additional connection is opened.
    private static var growthPause: Duration { .milliseconds(20) }
    /// Refusals in a row, over at least `refusalTime`, after which a peer that is heard on another connection is assumed to want no more.
    private static var refusalsMax: Int { 3 }
    /// Minimum time of refusals in a row: longer than a dead connection passes for a live one while a PING is pending.
    private static var refusalTime: Duration { .seconds(10) }
    /// Minimum time of refusals in the slot of a connection that was useful: an obstacle on the way may pass.
    private static var returnTime: Duration { .seconds(600) }
    /// Minimum of connections on which pushes that were alone have been answered, before their times are believed: one answer may be late for
    /// its token, a lost segment, or a pause of this machine.
    private static var witnessesMin: Int { 4 }

    /// - Parameters:
    ///   - count: number of slots at first.
    ///   - least: number of slots below which the pool never is.
    init(count: Int, least: Int, choosesSize: Bool, pools: Int) {
        self.choosesSize = choosesSize
        self.least = least
        self.pools = pools
        slots = Array(repeating: ConnectionSlot(), count: count)
    }

    /// Number of slots.
    var count: Int { slots.count }

    /// Number of open connections that take requests.
    var openCount: Int { slots.count { $0.connection?.isOpen == true } }

    /// Connections that have a slot, in the order of the slots.
    var members: [Member] { slots.compactMap { $0.connection } }

    /// Connections that have a slot, and then those that drain.
    var everyMember: [Member] { members + draining }

    /// `true` while there is no connection, neither in a slot nor draining.
    var isEmpty: Bool { draining.isEmpty && slots.allSatisfy { $0.connection == nil } }

    private var openMembers: [Member] { members.filter { $0.isOpen } }

    private func index(of connection: Member) -> Int? { slots.firstIndex { $0.connection === connection } }

    func hasSlot(_ connection: Member) -> Bool { index(of: connection) != nil }

    /// Returns the connection with this serial, if it still has its slot.
    func member(_ serial: UInt64) -> Member? { members.first { $0.serial == serial } }

    /// Returns `true` if the condition holds for a connection that has a slot.
    func contains(where isMeant: (Member) -> Bool) -> Bool {
        slots.contains { slot in
            if let connection = slot.connection { isMeant(connection) } else { false }
        }
    }

    /// Returns `true` if the peer allows fewer requests than a moment ago on half of the slots' connections.
    func isReduced(at now: MonotonicTime) -> Bool {
        2 * slots.count { $0.connection?.isReduced(at: now) == true } >= slots.count
    }

    // MARK: Candidates

    var hasCandidates: Bool { !candidates.isEmpty }

    /// Adds a connection on which an event has occurred, so that it may have room now.
    func mayHaveRoom(_ connection: Member) { candidates.add(connection) }

    /// Adds all connections that have a slot, because smaller bodies may find room on each.
    func allMayHaveRoom() {
        for case let connection? in slots.lazy.map({ $0.connection }) { candidates.add(connection) }
    }

    /// Notes that a connection has been used last.
    func noteUse(of connection: Member) { candidates.moveToEnd(connection) }

    /// Returns the connection to use next, and its room (`Candidates.next`).
    @inline(__always)
    func next(_ offer: (Member, _ index: Int, inout NextConnection) -> Bool) -> (Member, room: Int)? {
        candidates.next(offer)
    }

    // MARK: Dialing

    /// Maximum number of concurrent handshakes. The app's pools share four if they choose their sizes, so that connections that
    /// ended together return a few at a time; a pool has two at least, so that one unanswered handshake does not block the others.
    private var dialsMax: Int { max(2, 4 / pools) }

    /// Returns `true` if a new connection is to be made for the slot now.
    func opens(_ index: Int, at now: MonotonicTime) -> Bool {
        slots[index].opensAt <= now && (slots[index].connection == nil || slots[index].isInDoubt) && mayDial(index)
    }

    /// Returns `true` if the slot may dial now. Only a few slots dial while no connection is open: those that have already begun.
    private func mayDial(_ index: Int) -> Bool {
        guard choosesSize else { return true }
        if openCount > 0 { return slots.count { $0.connection?.isDialing == true } < dialsMax }
        // Slots that have dialled go on in order, up to the maximum: an outage in which connections ended one after the
        // other leaves many of them.
        let others =
            slots[index].isAsking
            ? slots[..<index].count { $0.isAsking } : slots.count { $0.isAsking }
        return others < Self.dialsAlone
    }

    /// Makes room for a new connection in a slot.
    ///
    /// - Returns: the connection in doubt that has left the slot, which is to be drained.
    func clear(_ index: Int, at now: MonotonicTime) -> Member? {
        guard let doubted = slots[index].connection else { return nil }
        noteBenefit(of: doubted, at: index, now: now)
        slots[index].clear()
        draining.append(doubted)
        return doubted
    }

    /// Puts a new connection into a slot without one.
    ///
    /// - Parameter make: makes the connection with this serial.
    func fill(_ index: Int, by make: (_ serial: UInt64) -> Member) -> Member {
        newestSerial += 1
        let connection = make(newestSerial)
        slots[index].connection = connection
        return connection
    }

    /// Returns the first deadline of the connections and of the slots.
    ///
    /// - Parameter dials: `false` if no more connections are to be made.
    func nextDeadline(dials: Bool) -> MonotonicTime {
        var due = MonotonicTime.never
        // This loop copies no slot.
        for index in slots.indices {
            if let connection = slots[index].connection {
                due = min(due, connection.nextDeadline)
                guard slots[index].isInDoubt else { continue }
            }
            if dials, mayDial(index) { due = min(due, slots[index].opensAt) }
        }
        for connection in draining { due = min(due, connection.nextDeadline) }
        return due
    }

    // MARK: Events of connections

    func noteOpened(_ connection: Member) {
        opened += 1
        if let index = index(of: connection) {
            slots[index].dialBackoff.reset()
            slots[index].isUntried = false
        }
        hasChanged = true
    }

    /// Clears the trouble of the slot, whose connection has processed so many pushes that a later failure is unrelated.
    func noteSuccess(of connection: Member) {
        guard let index = index(of: connection) else { return }
        slots[index].forgetTrouble()
        hasChanged = true
    }

    /// Notes that a connection has ended. Its slot keeps it until it is vacated or removed.
    ///
    /// - Parameter lingers: the connection carries nothing any more but is not closed yet.
    func noteEnd(of connection: Member, _ ending: ConnectionEnding, lingers: Bool) {
        switch ending {
        case .drained: break
        case .notOpened, .outOfFiles: failed += 1
        case .lost: lost += 1
        }
        draining.removeAll { $0 === connection }
        candidates.remove(connection)
        if lingers { draining.append(connection) }
    }

    /// Clears the doubt about a connection that has answered well after all.
    func trust(_ connection: Member) {
        guard let index = index(of: connection), slots[index].isInDoubt else { return }
        giveBackReplacement(of: connection)
        slots[index].isInDoubt = false
    }

    // MARK: Replacements

    /// Empties the slot of a connection for another one, which opens soon if the old one was useful.
    ///
    /// - Returns: `true` if the connection has left a slot and is to be drained.
    func replace(
        _ connection: Member, at now: MonotonicTime, using random: inout some RandomNumberGenerator
    ) -> Bool {
        guard let index = index(of: connection) else { return false }
        let isOfUse = connection.record.carriedTraffic || connection.hasLasted(at: now)
        // A server that shuts down notifies all its clients, and each of them on all its connections.
        let wait = isOfUse ? spreadWait(index, using: &random) : nextWait(index, at: now, using: &random)
        vacate(index, for: wait, at: now)
        draining.append(connection)
        return true
    }

    /// Empties all slots for connections with another key.
    ///
    /// - Returns: the connections that have left their slots and are to be drained.
    func replaceAll(at now: MonotonicTime, using random: inout some RandomNumberGenerator) -> [Member] {
        // The peer does not cause these replacements, so its earlier ends of connections do not count.
        replacements.forget()
        let left = members
        for index in slots.indices where slots[index].connection != nil {
            vacate(index, for: spreadWait(index, using: &random), at: now)
        }
        draining += left
        return left
    }

    /// Replaces a connection like `replace`, but leaves it in its slot until the next one may open.
    ///
    /// - Returns: `true` if the connection was not in doubt before.
    func replaceLater(
        _ connection: Member, at now: MonotonicTime, using random: inout some RandomNumberGenerator
    ) -> Bool {
        guard let index = index(of: connection), !slots[index].isInDoubt else { return false }
        slots[index].isInDoubt = true
        let wait = nextWait(index, at: now, using: &random)
        slots[index].opensAt = replacementOpens(index, after: wait, at: now)
        return true
    }

    /// Returns the wait before the next connection in the slot of one that has ended.
    func wait(
        after connection: Member, _ ending: ConnectionEnding, at now: MonotonicTime,
        using random: inout some RandomNumberGenerator
    ) -> Duration {
        guard let index = index(of: connection) else { return .zero }
        switch ending {
        case .notOpened, .outOfFiles: return slots[index].dialBackoff.next(using: &random)
        case .drained, .lost:
            return connection.record.carriedTraffic ? .zero : nextWait(index, at: now, using: &random)
        }
    }

    /// Empties the slot of a connection that has ended, if it has one.
    func vacateSlot(of connection: Member, for wait: Duration, at now: MonotonicTime) {
        if let index = index(of: connection) { vacate(index, for: wait, at: now) }
    }

    private func vacate(_ index: Int, for wait: Duration, at now: MonotonicTime) {
        if let connection = slots[index].connection {
            noteBenefit(of: connection, at: index, now: now)
            // The replacement was counted when the connection came into doubt.
            if slots[index].isInDoubt { giveBackReplacement(of: connection) }
        }
        slots[index].opensAt = replacementOpens(index, after: wait, at: now)
        slots[index].clear()
        slots[index].isUntried = false
        hasChanged = true
    }

    /// Returns the wait before the slot's next connection.
    private func nextWait(
        _ index: Int, at now: MonotonicTime, using random: inout some RandomNumberGenerator
    ) -> Duration {
        if slots[index].connection?.hasLasted(at: now) == true {
            slots[index].forgetTrouble()
            hasChanged = true
        }
        if slots[index].connection?.record.wasEndedAtRest == true {
            return slots[index].restBackoff.next(using: &random)
        }
        return slots[index].backoff.next(using: &random)
    }

    private func spreadWait(_ index: Int, using random: inout some RandomNumberGenerator) -> Duration {
        .nanoseconds(Int64.random(in: 0...spread(of: index).nanoseconds, using: &random))
    }

    /// Returns the time over which replacements of ended connections spread: twenty per second if there are many,
    /// including the app's other pools, which lose theirs as well. The first connections come sooner, because pushes wait
    /// for them if none is left: those of all pools open within a third of a second.
    private func spread(of index: Int) -> Duration {
        guard choosesSize else { return max(.milliseconds(250), Duration.milliseconds(50) * slots.count) }
        if index < least { return max(.milliseconds(250), Duration.milliseconds(10) * (least * pools)) }
        return max(.milliseconds(250), Duration.milliseconds(50) * (slots.count * pools))
    }

    /// Returns the time at which a replacement may open.
    ///
    /// - Parameter index: index of the slot, which still holds the connection to be replaced.
    private func replacementOpens(_ index: Int, after wait: Duration, at now: MonotonicTime) -> MonotonicTime {
        guard choosesSize, slots[index].connection?.record.hasEarnedAnother != true else { return now + wait }
        return replacements.next(after: wait, slots: slots.count, pools: pools, at: now)
    }

    /// Gives back the counted replacement of a connection in doubt, which is no longer to be replaced for that.
    private func giveBackReplacement(of connection: Member) {
        if !connection.record.hasEarnedAnother { replacements.giveBack(pools: pools) }
    }

    /// Records whether a connection that leaves its slot was useful.
    private func noteBenefit(of connection: Member, at index: Int, now: MonotonicTime) {
        if connection.record.carriedTraffic || connection.hasLasted(at: now) { slots[index].hasCarried = true }
    }

    // MARK: More and fewer slots

    /// Returns the number of connections that the peer has taken, for the quota.
    func taken() -> Int {
        hasChanged = false
        return slots.count { $0.isTaken }
    }

    /// Number of connections that may begin together: as many as concurrent handshakes for replacements, because growing one handshake
    /// at a time would take half a minute at a great distance. None begins while another connection has failed to open or has gone.
    var beginnable: Int {
        let opening = slots.filter { $0.connection?.isOpen != true }
        return opening.allSatisfy { $0.isUntried } ? max(0, dialsMax - opening.count) : 0
    }

    /// Adds slots, which dial one after the other.
    func add(_ number: Int, at now: MonotonicTime, using random: inout some RandomNumberGenerator) {
        var opens = now
        for _ in 0..<number {
            var slot = ConnectionSlot<Member>()
            slot.isUntried = true
            opens += .nanoseconds(Int64.random(in: 0...Self.growthPause.nanoseconds, using: &random))
            slot.opensAt = opens
            slots.append(slot)
        }
    }

    /// Removes the slot that is worth least.
    ///
    /// - Returns: the connection that was in it and is to be drained.
    func removeLeastUseful() -> Member? {
        let index =
            slots.firstIndex { $0.connection == nil } ?? slots.firstIndex { $0.isInDoubt }
            ?? slots.firstIndex { $0.connection?.times.slowness.isSlow == true } ?? slots.count - 1
        return giveUp(index)
    }

    /// Removes the slot of a connection that the peer has not taken, if several were begun. One of them is enough to find
    /// out whether the peer wants no more.
    ///
    /// - Returns: `true` if the slot is gone.
    func takeBack(_ connection: Member) -> Bool {
        guard let index = index(of: connection), slots[index].isUntried, openCount > 0,
            slots.contains(where: { !$0.isUntried && $0.connection?.isOpen != true })
        else { return false }
        remove(index)
        return true
    }

    /// Removes the other slots whose connections have neither opened nor failed.
    ///
    /// - Returns: the number of removed slots, and the connections that were in them and are to be drained.
    func removeUntried(except connection: Member) -> (count: Int, left: [Member]) {
        var (count, left) = (0, [Member]())
        for index in slots.indices.reversed() where slots[index].connection !== connection && slots[index].isUntried {
            count += 1
            if let other = giveUp(index) { left.append(other) }
        }
        return (count, left)
    }

    /// Notes that the peer has not taken a connection, or ended it before it was useful.
    ///
    /// - Returns: `true` if the peer repeatedly does so in this slot while it serves others: such a peer wants no more than those.
    func noteRefusal(of connection: Member, at now: MonotonicTime) -> Bool {
        // The end of a connection that has lasted, or was idle, says nothing about the permitted number of connections.
        guard choosesSize, let index = index(of: connection), !connection.hasLasted(at: now),
            !connection.record.wasEndedAtRest
        else { return false }
        let others = openMembers.filter { $0 !== connection }
        guard let witness = others.max(by: { $0.lastReceived < $1.lastReceived }) else { return false }
        let since = slots[index].refusedSince ?? now
        slots[index].refusedSince = since
        slots[index].refusals += 1
        hasChanged = true
        let time = slots[index].hasCarried ? Self.returnTime : Self.refusalTime
        witness.askForSignOfLife(at: now)
        return slots[index].refusals >= Self.refusalsMax && now - since >= time && witness.lastReceived > since
    }

    /// Removes the slot of a connection that has not ended, if it has one.
    ///
    /// - Returns: the connection if it has left a slot and is to be drained.
    func giveUpSlot(of connection: Member) -> Member? { index(of: connection).flatMap { giveUp($0) } }

    /// Removes the slot of a connection that has ended, if it has one. A connection that lingers drains already (`noteEnd`).
    func removeSlot(of connection: Member) {
        if let index = index(of: connection) { remove(index) }
    }

    /// Removes a slot, whose connection drains from then on.
    ///
    /// - Returns: the connection that was in the slot.
    private func giveUp(_ index: Int) -> Member? {
        guard let connection = remove(index) else { return nil }
        draining.append(connection)
        return connection
    }

    /// Removes a slot.
    ///
    /// - Returns: the connection that was in the slot, which the set forgets unless it drains.
    @discardableResult
    private func remove(_ index: Int) -> Member? {
        hasChanged = true
        return slots.remove(at: index).connection
    }

    // MARK: Comparisons

    /// Returns `true` if the connection has far more final answers than the others. Another connection is then asked before
    /// an activity gets nothing more.
    func isAlone(_ connection: Member) -> Bool {
        guard !connection.record.finalAnswers.areFew else { return false }
        var others = FinalAnswers()
        for slot in slots {
            if let other = slot.connection, other !== connection { others.add(other.record.finalAnswers) }
        }
        return connection.record.finalAnswers.areTooMany(beside: others)
    }

    /// Time of the quickest answer to a push that was alone on its connection; the peer's work may take longer than the way to it and back.
    var quickestService: Duration? {
        let open = openMembers
        let times = open.compactMap { $0.times.service.least }
        guard times.count >= min(Self.witnessesMin, max(2, open.count)) else { return nil }
        return times.min()
    }

    /// Compares the times that the open connections' answers take.
    ///
    /// - Returns: the connections that stay slow.
    func judgeResponses(at now: MonotonicTime) -> [Member] {
        let open = openMembers
        let known = open.filter { $0.times.response.notedAt.map { now - $0 < Slowness.memory } ?? false }
        let middle = Slowness.middle(of: known.compactMap { $0.times.response.least })
        let limit = middle.map { Slowness.limit(beside: $0) }
        for connection in open {
            connection.times.compare(to: middle, at: now)
            connection.times.judge(limit: limit, at: now)
        }
        return open.filter { $0.times.slowness.stays(at: now) }
    }

    // MARK: For tests

    /// Describes a connection with two places, a candidate without one, or a slot whose doubts or refusals contradict each other; `nil` if there is
    /// none.
    func violation() -> String? {
        let everyMember = everyMember
        let serials = Set(everyMember.map { $0.serial })
        guard serials.count == everyMember.count else { return "a connection has two places" }
        guard serials.allSatisfy({ $0 <= newestSerial }) else { return "a connection is newer than the newest" }
        guard candidates.members.allSatisfy({ serials.contains($0.serial) }) else { return "a candidate has gone" }
        guard slots.allSatisfy({ !$0.isInDoubt || $0.connection != nil }) else { return "an empty slot is in doubt" }
        guard slots.allSatisfy({ ($0.refusals == 0) == ($0.refusedSince == nil) }) else {
            return "refusals without the time of the first"
        }
        return candidates.violation()
    }
}
