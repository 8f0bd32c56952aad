import FanfareModel
import Testing

@testable import FanfareAPNs

@Suite struct PullGateTests {
    private var gate = PullGate()
    private var random = SplitMix(state: 7)
    private var now = MonotonicTime.after(.seconds(1))

    @Test mutating func gateIsOpenAtFirst() {
        let room = gate.room(at: now)
        #expect(room == .max)
    }

    /// A key file may change in the turn whose pushes a fault has shut out: at one reading of the clock.
    @Test mutating func pushesOfTheTrysOwnReadingDoNotKeepTheGateFromTrying() {
        gate.sent(3, at: now)
        gate.shut(at: now)
        gate.tryNow(at: now)
        for _ in 0..<3 { gate.ended(sentAt: now) }
        let room = gate.room(at: now)
        #expect(room == 1)
        #expect(gate.violation() == nil)
    }

    /// One connection's end begins a try, by a clock that has gone on, and another one's turn sends its push.
    @Test mutating func aPushOfAnEarlierReadingIsTheTrys() throws {
        try close()
        let later = try #require(gate.closedUntil) + .seconds(1)
        now = later - .nanoseconds(1)
        _ = gate.room(at: later)
        let one = gate.room(at: now)
        #expect(one == 1)
        gate.sent(one, at: now)
        let none = gate.room(at: later)
        #expect(none == 0)
        gate.answered(sentAt: now)
        gate.ended(sentAt: now)
        let two = gate.room(at: later)
        #expect(two == 2)
    }

    /// Each 503 costs its own push, which is sent again; a pause would cost the others, too. The order of the answers is random.
    @Test(arguments: [0.05, 0.2, 0.25]) mutating func aShareOf503sDoesNotCloseTheGate(_ share: Double) {
        let seed = UInt64.random(in: .min ... .max)
        var draws = SplitMix(state: seed)
        for _ in 0..<100_000 {
            if Double.random(in: 0..<1, using: &draws) < share {
                let closed = gate.trouble(isEvidence: true, sentAt: now, at: now, using: &random)
                #expect(closed == nil, "seed \(seed)")
            } else {
                gate.answered(sentAt: now)
            }
        }
    }

    /// All answers of a connection come in one read, the refusals after the others.
    @Test mutating func refusalsThatComeTogetherDoNotCloseTheGate() {
        for _ in 0..<100 {
            for _ in 0..<800 { gate.answered(sentAt: now) }
            for _ in 0..<200 {
                let closed = gate.trouble(isEvidence: true, sentAt: now, at: now, using: &random)
                #expect(closed == nil)
            }
        }
    }

    /// A connection's worth of pushes at most is sent in vain, however many were accepted before.
    @Test mutating func aServiceThatFailsClosesTheGate() {
        for _ in 0..<100_000 { gate.answered(sentAt: now) }
        var sent = 0
        while gate.closedUntil == nil, sent < 5000 {
            _ = gate.trouble(isEvidence: true, sentAt: now, at: now, using: &random)
            sent += 1
        }
        #expect(sent <= PullGate.creditMax + PullGate.troubleMax)
    }

    @Test mutating func twoFailuresInThreeCloseTheGate() {
        var closed = false
        for _ in 0..<PullGate.troubleMax where !closed {
            for _ in 0..<2 where !closed {
                closed = gate.trouble(isEvidence: true, sentAt: now, at: now, using: &random) != nil
            }
            gate.answered(sentAt: now)
        }
        #expect(closed)
    }

    @Test mutating func gateOpensByOnePush() throws {
        try close()
        #expect(gate.closedUntil != nil)
        let shut = gate.room(at: now)
        #expect(shut == 0)
        now = try #require(gate.closedUntil)
        let one = gate.room(at: now)
        #expect(one == 1)
        gate.sent(1, at: now)
        let second = gate.room(at: now)
        #expect(second == 0)
        gate.answered(sentAt: now)
        gate.ended(sentAt: now)
        let two = gate.room(at: now)
        #expect(two == 2, "a service that has just come back does not meet everybody at once")
    }

    /// A connection leaves the pushes unanswered that it had when the gate closed. The others are tried at once, and the outcome of the old
    /// ones, good or bad, neither opens the gate nor closes it, nor takes up its room.
    @Test mutating func pushesFromBeforeTheClosingSayNothingAndHoldNothing() throws {
        gate.sent(300, at: now)
        let before = now
        try close()
        now = try #require(gate.closedUntil)
        let one = gate.room(at: now)
        #expect(one == 1)
        gate.sent(1, at: now)
        gate.answered(sentAt: before)
        gate.ended(sentAt: before)
        #expect(gate.isTrying, "an old answer does not open the gate")
        let second = gate.room(at: now)
        #expect(second == 0)
        let old = gate.trouble(isEvidence: true, sentAt: before, at: now, using: &random)
        #expect(old == nil && gate.isTrying)
        gate.answered(sentAt: now)
        gate.ended(sentAt: now)
        let two = gate.room(at: now)
        #expect(two == 2)
        for _ in 0..<298 {
            let closed = gate.trouble(isEvidence: true, sentAt: before, at: now, using: &random)
            #expect(closed == nil)
            gate.ended(sentAt: before)
        }
        let still = gate.room(at: now)
        #expect(still == 2)
    }

    /// The connection ends, and the peer has not processed the try: another one may leave.
    @Test mutating func aTryThatWasNotProcessedIsTriedAgain() throws {
        try closeAndTry()
        gate.sent(1, at: now)
        gate.ended(sentAt: now)
        let again = gate.room(at: now + .nanoseconds(1))
        #expect(again == 1)
    }

    /// The gate opens although no push is due, so that no connection asks for room.
    @Test mutating func gateOpensAfterAWhileWithoutAnyQuestion() throws {
        try closeAndTry()
        gate.answered(sentAt: now)
        gate.pass(to: now)
        #expect(!gate.isOpen)
        gate.pass(to: now + PullGate.openingTime - .nanoseconds(1))
        #expect(!gate.isOpen && gate.opensWhollyAt == now + PullGate.openingTime)
        gate.pass(to: now + PullGate.openingTime)
        #expect(gate.isOpen)
    }

    /// Each answer releases two more pushes: ten round trips.
    @Test mutating func openingDoublesWithEachRoundTripAndEnds() throws {
        try closeAndTry()
        gate.answered(sentAt: now)
        var rooms: [Int] = []
        while rooms.count < 20 {
            let room = gate.room(at: now)
            rooms.append(room)
            guard room < .max else { break }
            for _ in 0..<room { gate.answered(sentAt: now) }
        }
        #expect(rooms == [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, .max])
    }

    /// Few pushes were due, and a round trip may take seconds.
    @Test mutating func openingEndsAfterTenSecondsWhateverIsAnswered() throws {
        try closeAndTry()
        gate.answered(sentAt: now)
        _ = gate.room(at: now)
        gate.sent(2, at: now)
        let soon = try #require(gate.opensWhollyAt)
        #expect(soon == now + .seconds(10))
        let before = gate.room(at: soon - .nanoseconds(1))
        #expect(before == 0)
        let after = gate.room(at: soon)
        #expect(after == .max)
    }

    // MARK: Activities that always fail

    @Test mutating func activitiesThatHaveFailedBeforeNeverCloseTheGate() {
        for _ in 0..<100_000 {
            let closed = gate.trouble(isEvidence: false, sentAt: now, at: now, using: &random)
            #expect(closed == nil)
        }
        let room = gate.room(at: now)
        #expect(room == .max)
    }

    /// The gate is closed, and only activities that always fail are due: an activity that becomes due meanwhile is tried within a second.
    @Test mutating func triesWithFailedActivitiesDoNotKeepTheGateClosed() throws {
        try close()
        for _ in 0..<100 {
            now = try #require(gate.closedUntil)
            _ = gate.room(at: now)
            let wait = gate.trouble(isEvidence: false, sentAt: now, at: now, using: &random)
            #expect(wait.map { $0 <= .seconds(1) } == true)
        }
    }

    @Test mutating func oneActivityWhoseFaultLastsDoesNotStopTheOthers() {
        gate.answered(sentAt: now)
        for _ in 0..<100 {
            let closed = gate.fault(isEvidence: false, on: 1, of: 1, sentAt: now, at: now, using: &random)
            #expect(!closed)
        }
    }

    /// Some activities always fail, but another one is served now and then: operators need no report.
    @Test mutating func aGoodAnswerEndsADrought() {
        for _ in 0..<100 {
            for _ in 0..<100 { _ = gate.trouble(isEvidence: false, sentAt: now, at: now, using: &random) }
            now += .seconds(4)
            #expect(!gate.isDrought(at: now))
            gate.answered(sentAt: now)
            now += .seconds(4)
        }
    }

    @Test mutating func tenFailuresOverFiveSecondsAreADroughtOnAnyConnection() {
        for failure in 1...10 {
            #expect(!gate.isDrought(at: now + .seconds(5)))
            _ =
                failure % 2 == 0
                ? gate.trouble(isEvidence: false, sentAt: now, at: now, using: &random) != nil
                : gate.fault(isEvidence: false, on: 1, of: 1, sentAt: now, at: now, using: &random)
        }
        #expect(!gate.isDrought(at: now + .nanoseconds(4_999_999_999)))
        #expect(gate.isDrought(at: now + .seconds(5)))
    }

    /// Answers accepted minutes ago give no credit: sixteen faults are then enough.
    @Test mutating func creditDoesNotOutlastADrought() {
        for _ in 0..<10_000 { gate.answered(sentAt: now) }
        for _ in 0..<PullGate.droughtFailures {
            _ = gate.trouble(isEvidence: false, sentAt: now, at: now, using: &random)
        }
        now += PullGate.droughtTime
        var sent = 0
        while gate.closedUntil == nil, sent < 1000 {
            _ = gate.trouble(isEvidence: true, sentAt: now, at: now, using: &random)
            sent += 1
        }
        #expect(sent == PullGate.troubleMax)
    }

    /// There may be only one push: a test with one card and a wrong key.
    @Test mutating func beforeAnythingHasWorkedEveryFaultCounts() {
        var faults = 0
        while gate.closedUntil == nil, faults < 100 {
            _ = gate.fault(isEvidence: false, on: 1, of: 1, sentAt: now, at: now, using: &random)
            faults += 1
        }
        #expect(faults == PullGate.faultsInARowMax)
    }

    @Test mutating func eachFailedTryDoublesTheWaitUpToFiveSeconds() throws {
        try close()
        var waits: [Duration] = []
        for _ in 0..<14 {
            now = try #require(gate.closedUntil)
            _ = gate.room(at: now)
            waits.append(try #require(gate.trouble(isEvidence: true, sentAt: now, at: now, using: &random)))
        }
        #expect(waits[0] >= .milliseconds(50) && waits[0] <= .milliseconds(100))
        #expect(waits.last.map { $0 >= .seconds(2.5) && $0 <= .seconds(5) } == true)
    }

    /// 503s for pushes that were in flight when the gate closed belong to the same trouble.
    @Test mutating func stragglersDoNotKeepTheGateClosed() throws {
        try close()
        let until = gate.closedUntil
        for _ in 0..<1000 {
            let again = gate.trouble(isEvidence: true, sentAt: now, at: now + .nanoseconds(1), using: &random)
            #expect(again == nil)
        }
        gate.answered(sentAt: now)
        #expect(gate.closedUntil == until)
    }

    @Test mutating func faultsInARowCloseTheGate() {
        for _ in 1..<PullGate.faultsInARowMax {
            let closed = gate.fault(isEvidence: true, on: 1, of: 1, sentAt: now, at: now, using: &random)
            #expect(!closed)
        }
        let closed = gate.fault(isEvidence: true, on: 1, of: 1, sentAt: now, at: now, using: &random)
        #expect(closed)
        let straggler = gate.fault(isEvidence: true, on: 1, of: 1, sentAt: now, at: now, using: &random)
        #expect(!straggler, "reported once")
        #expect(gate.closedUntil == now + .seconds(60))
        now += .seconds(60)
        _ = gate.room(at: now)
        let again = gate.fault(isEvidence: true, on: 1, of: 1, sentAt: now, at: now, using: &random)
        #expect(again, "one try is enough")
    }

    /// Faults of one connection do not count, however many come in one read: it may have reached a faulty server. Many connections may
    /// include a few such.
    @Test(arguments: [(2, 2), (8, 2), (24, 3), (64, 8), (1000, 10)])
    mutating func faultsOfFewConnectionsDoNotCloseTheGate(connections: Int, needed: Int) {
        gate.answered(sentAt: now)
        for connection in 1..<needed {
            for _ in 0..<1000 {
                let closed = gate.fault(
                    isEvidence: true, on: UInt64(connection), of: connections, sentAt: now, at: now, using: &random)
                #expect(!closed && !gate.isEverybodys(of: connections))
            }
        }
        let closed = gate.fault(
            isEvidence: true, on: UInt64(needed), of: connections, sentAt: now, at: now, using: &random)
        #expect(closed && gate.isEverybodys(of: connections))
    }

    /// One connection after the other fails, and an activity is served between them.
    @Test mutating func anAcceptedPushSpeaksForTheConnectionsBefore() {
        for connection in 0..<100 {
            for _ in 0..<100 {
                let closed = gate.fault(
                    isEvidence: true, on: UInt64(connection), of: 8, sentAt: now, at: now, using: &random)
                #expect(!closed)
            }
            gate.answered(sentAt: now)
            #expect(!gate.isEverybodys(of: 8))
        }
    }

    /// The other connections may have no room, or hang.
    @Test mutating func faultsOfOneConnectionCloseTheGateIfOthersAreSilent() {
        gate.answered(sentAt: now)
        for _ in 0..<100 { _ = gate.fault(isEvidence: true, on: 1, of: 8, sentAt: now, at: now, using: &random) }
        now += .seconds(5)
        let closed = gate.fault(isEvidence: true, on: 1, of: 8, sentAt: now, at: now, using: &random)
        #expect(closed)
    }

    @Test mutating func aFailedTryOnOneConnectionClosesTheGate() throws {
        try closeAndTry()
        let closed = gate.fault(isEvidence: true, on: 1, of: 64, sentAt: now, at: now, using: &random)
        #expect(closed)
    }

    @Test mutating func anAcceptedPushForgivesFaults() {
        for _ in 0..<100 {
            for _ in 1..<PullGate.faultsInARowMax {
                let closed = gate.fault(isEvidence: true, on: 1, of: 1, sentAt: now, at: now, using: &random)
                #expect(!closed)
            }
            gate.answered(sentAt: now)
        }
    }

    private mutating func closeAndTry() throws {
        try close()
        now = try #require(gate.closedUntil)
        let one = gate.room(at: now)
        try #require(one == 1)
    }

    private mutating func close() throws {
        for _ in 0..<100 where gate.closedUntil == nil {
            _ = gate.trouble(isEvidence: true, sentAt: now, at: now, using: &random)
        }
        try #require(gate.closedUntil != nil)
    }

    /// Pushes leave as the gate has room, and end in any order and way. Readings of the clock may be equal, and a turn may go on with an earlier one. A
    /// gate whose pushes have all ended lets one through, at the latest when a person may have acted.
    @Test(arguments: 0..<10) mutating func theGateNeverWaitsForPushesThatAreNotInFlight(seed: UInt64) {
        var draws = SplitMix64(seed: seed)
        var sent: [MonotonicTime] = []
        for step in 0..<2000 {
            now += .milliseconds(Int.random(in: 0...500, using: &draws))
            if Int.random(in: 0..<4, using: &draws) == 0 { _ = gate.room(at: now + .nanoseconds(1)) }
            let room = gate.room(at: now)
            let count = min(room, Int.random(in: 0...20, using: &draws))
            gate.sent(count, at: now)
            sent += [MonotonicTime](repeating: now, count: count)
            switch Int.random(in: 0..<200, using: &draws) {
            case 0...1: gate.shut(at: now)
            case 2...5: gate.tryNow(at: now)
            case 6: gate.changeKey()
            default: break
            }
            let isIll = step / 200 % 2 == 0
            let ends = step % 100 == 99 ? sent.count : Int.random(in: 0...20, using: &draws)
            for _ in 0..<min(sent.count, ends) {
                let sentAt = sent.remove(at: Int.random(in: 0..<sent.count, using: &draws))
                gate.ended(sentAt: sentAt)
                endPush(sentAt, isIll: isIll, using: &draws)
            }
            #expect(gate.violation() == nil, "step \(step)")
            #expect(gate.inFlight <= sent.count, "step \(step)")
            guard sent.isEmpty else { continue }
            var hopeful = gate
            let atLast = hopeful.room(at: now + PullGate.faultWait)
            #expect(atLast > 0, "step \(step)")
        }
    }

    private mutating func endPush(_ sentAt: MonotonicTime, isIll: Bool, using draws: inout SplitMix64) {
        let isEvidence = Bool.random(using: &draws)
        switch Int.random(in: 0..<10, using: &draws) {
        case 0: break
        case 1..<(isIll ? 6 : 2): _ = gate.trouble(isEvidence: isEvidence, sentAt: sentAt, at: now, using: &random)
        case 6 where isIll:
            let connection = UInt64.random(in: 1...3, using: &draws)
            _ = gate.fault(
                isEvidence: isEvidence, on: connection, of: 3, sentAt: sentAt, at: now, using: &random)
        default: gate.answered(sentAt: sentAt)
        }
    }
}
