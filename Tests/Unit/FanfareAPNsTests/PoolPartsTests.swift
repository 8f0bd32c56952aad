import FanfareLoop
import FanfareModel
import Testing

@testable import FanfareAPNs

@Suite struct PoolHealthTests {
    private var health = PoolHealth()
    private let now = MonotonicTime.after(.seconds(100))

    @Test mutating func troubleThatLastsKeepsItsStart() {
        health.note(.connection, "refused", at: now)
        health.note(.service, "answers 503", at: now + .seconds(9))
        #expect(health.trouble == .init(kind: .service, text: "answers 503", since: now))
        health.answered()
        #expect(health.trouble == nil)
    }

    @Test mutating func lossSaysNothingBesideAKnownTrouble() {
        health.noteLoss("closed", at: now)
        #expect(health.trouble?.kind == .connection)
        health.note(.configuration, "no JWT", at: now)
        health.noteLoss("closed", at: now)
        #expect(health.trouble?.kind == .configuration)
    }

    @Test(arguments: [(PoolTrouble.Kind.connection, true), (.service, false), (.configuration, false)])
    mutating func openConnectionEndsTroubleOfConnectionsOnly(kind: PoolTrouble.Kind, ends: Bool) {
        health.note(kind, "text", at: now)
        health.opened()
        #expect((health.trouble == nil) == ends)
    }

    /// Operators hear of the fourth connection in vain once, until an answer comes.
    @Test mutating func connectionsInVainAreToldOnceInARow() {
        var told: [Bool] = []
        for _ in 0..<6 { told.append(health.noteVain(.service, "ends connections", at: now)) }
        #expect(told == [false, false, false, true, false, false])
        health.answered()
        for _ in 0..<4 { told.append(health.noteVain(.service, "ends connections", at: now)) }
        #expect(told.suffix(4) == [false, false, false, true])
    }

    @Test mutating func connectionThatStaysEndsItsOwnTroubleOnly() {
        for _ in 0..<PoolHealth.connectionsInVainMax { _ = health.noteVain(.service, "ends connections", at: now) }
        health.stays()
        #expect(health.trouble == nil)
        health.note(.service, "answers 503", at: now)
        health.stays()
        #expect(health.trouble?.text == "answers 503", "a PING's answer says nothing about pushes")
        for _ in 0..<PoolHealth.connectionsInVainMax { _ = health.noteVain(.configuration, "refuses JWTs", at: now) }
        health.stays()
        #expect(health.trouble?.kind == .configuration, "an operator has to act")
    }
}

@Suite struct TokenSerialsTests {
    private var serials = TokenSerials()

    @Test mutating func firstKeyIsTheConnections() {
        #expect(!serials.belong(toOtherThan: 3))
        _ = serials.send(1, of: 3)
        #expect(serials.key == 3 && !serials.belong(toOtherThan: 3) && serials.belong(toOtherThan: 4))
    }

    @Test mutating func anotherTokenIsNotAcceptedYet() {
        let first = serials.send(1, of: 1)
        serials.noteAccepted(1)
        let same = serials.send(1, of: 1)
        #expect(first && !same && serials.accepted == 1)
        let second = serials.send(2, of: 1)
        #expect(second && serials.accepted == 0)
        serials.noteAccepted(2)
        serials.noteRefusal()
        #expect(serials.accepted == 0)
    }

    /// Answers to the former key's tokens still arrive.
    @Test mutating func tokensOfTheFormerKeyAreKnownAsSuch() {
        for token in [1, 2] as [UInt64] {
            _ = serials.send(token, of: 1)
            serials.noteSent(token)
        }
        #expect(serials.newestOfFormerKey == 0)
        serials.changeKey(to: 2)
        #expect(serials.newestOfFormerKey == 2 && serials.key == 2)
    }

    @Test mutating func noTokenIsNewerThanTheNewestWhateverHappens() {
        var random = SplitMix64(seed: 9)
        var (key, newest): (UInt64, UInt64) = (1, 1)
        for step in 0..<1000 {
            switch Int.random(in: 0..<5, using: &random) {
            case 0: newest += 1
            case 1:
                _ = serials.send(newest, of: key)
                serials.noteSent(newest)
            case 2 where serials.key != 0: serials.noteAccepted(max(1, serials.newestOfFormerKey))
            case 3 where serials.key != 0:
                key += 1
                serials.changeKey(to: key)
            default: serials.noteRefusal()
            }
            #expect(serials.violation() == nil, "step \(step)")
        }
    }
}

@Suite struct PoolClosingTests {
    @Test func theEndOfAPoolIsToldOnce() {
        var closing = PoolClosing()
        let before = closing.end()
        #expect(before == nil && !closing.hasBegun)
        var timesTold = 0
        let deadline = MonotonicTime.after(.seconds(10))
        closing.begin(by: deadline) { timesTold += 1 }
        #expect(closing.hasBegun && closing.deadline == deadline && timesTold == 0 && closing.violation() == nil)
        closing.end()?()
        closing.end()?()
        #expect(closing.hasBegun && timesTold == 1)
    }
}

@Suite struct OperatorReportsTests {
    @Test func equalLinesLeaveOnceAMinuteAlsoWhereTheirReaderReportsAgain() {
        var lines: [String] = []
        var again: (() -> Void)?
        let reports = OperatorReports { line in
            lines.append(line)
            again?()
        }
        again = { reports.report("refused", at: .after(.zero)) }
        reports.report("refused", at: .after(.zero))
        #expect(lines == ["refused"])
        again = nil
        reports.report("refused", at: .after(.seconds(60)))
        #expect(lines.last == "refused (and 1 times since the last time this was said)")
    }
}

@Suite struct DeadlineTimerTests {
    private let start = MonotonicTime.after(.seconds(100))

    /// Returns a timer of a loop that does not run: the tests play its calls.
    private func timer(of loop: Loop) -> DeadlineTimer { DeadlineTimer(loop: loop, onTurnEnd: {}, onFire: {}) }

    @Test func timerThatFiresInTimeIsHeard() throws {
        let loop = try Loop()
        defer { loop.close() }
        var timer = timer(of: loop)
        timer.arm(at: start + .seconds(1), now: start)
        let early = timer.fires(at: start + .milliseconds(999), inTurn: 1)
        timer.arm(at: start + .seconds(1), now: start + .milliseconds(999))
        let inTime = timer.fires(at: start + .milliseconds(1050), inTurn: 2)
        #expect(early && inTime)
        timer.close()
    }

    /// libuv's clock stands while the machine is suspended: the timer would fire as late as that.
    @Test func timerIsStartedAnewAfterASuspension() throws {
        let loop = try Loop()
        defer { loop.close() }
        var timer = timer(of: loop)
        let first = timer.arm(at: start + .seconds(1), now: start)
        let same = timer.arm(at: start + .seconds(2), now: start)
        let late = timer.arm(at: start + .seconds(2), now: start + .milliseconds(1040))
        let slept = timer.arm(at: start + .seconds(61), now: start + .seconds(60))
        #expect([first, same, late, slept] == [true, false, false, true])
        _ = timer.fires(at: start + .seconds(90), inTurn: 3)
        let again = timer.arm(at: start + .seconds(200), now: start + .seconds(90))
        #expect(!again, "it is about to fire once more")
        timer.close()
    }

    /// After a pause of the thread, answers that have arrived meanwhile are read before deadlines count.
    @Test func lateTimerFiresOnceMoreInALaterTurn() throws {
        let loop = try Loop()
        defer { loop.close() }
        var timer = timer(of: loop)
        timer.arm(at: start, now: start)
        let later = start + .seconds(30)
        let first = timer.fires(at: later, inTurn: 7)
        timer.arm(at: start + .seconds(1), now: later)
        #expect(timer.violation() == nil)
        let sameTurn = timer.fires(at: later, inTurn: 7)
        let nextTurn = timer.fires(at: later + .seconds(30), inTurn: 8)
        #expect([first, sameTurn, nextTurn] == [false, false, true] && timer.violation() == nil)
        timer.close()
    }
}
