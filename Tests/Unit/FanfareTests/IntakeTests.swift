import FanfareDecisions
import FanfareFanOut
import FanfareLog
import FanfareLoop
import FanfareModel
import FanfareTestSupport
import Testing

@testable import Fanfare

/// An engine with a store, in one thread, whose disk syncs only when a test lets it.
@Suite struct IntakeTests {
    /// Runs core and shard, but not the disk.
    private func run(_ engine: OneThread) {
        engine.disk?.isStuck = true
        engine.settle()
        engine.disk?.isStuck = false
    }

    @Test func aGoalLeavesWhenItsEntryIsDurable() throws {
        let disk = ManualDisk()
        let engine = OneThread(disk: disk)
        engine.begin()
        let before = engine.transport.accepted.count
        engine.goal(1)
        run(engine)
        #expect(disk.waiting.count == 1)
        #expect(engine.transport.accepted.count == before)
        #expect(!engine.records.contains { $0.kind == "goal" })
        engine.settle()
        #expect(engine.transport.accepted.count == before + 1)
    }

    /// Requests that need no entry keep their place between the entries.
    @Test func aQuestionIsAnsweredAfterTheEventsBeforeIt() {
        let engine = OneThread(disk: ManualDisk())
        engine.begin()
        let versions = Locked<[UInt32]>([])
        func ask() {
            _ = engine.ask(
                .topicState(OneThread.match) { state in versions.withLock { $0.append(state?.version ?? 0) } })
        }
        ask()
        engine.goal(1)
        ask()
        run(engine)
        #expect(versions.withLock { $0.count } == 1)
        engine.settle()
        let found = versions.withLock { $0 }
        #expect(found.count == 2 && found[1] == found[0] + 1, "\(found)")
    }

    @Test func anAcknowledgementComesWithTheSync() {
        let disk = ManualDisk()
        let engine = OneThread(disk: disk)
        let entries = Locked<[UInt64?]>([])
        for number in 1...3 {
            _ = engine.ask(.acknowledged(.event(.number(number))) { entry in entries.withLock { $0.append(entry) } })
        }
        run(engine)
        #expect(entries.withLock { $0.isEmpty })
        #expect(disk.sync())
        #expect(entries.withLock { $0 } == [1, 2, 3])
    }

    /// Entries that come during a sync are the next batch.
    @Test func oneSyncServesAllThatCameMeanwhile() {
        let disk = ManualDisk()
        let engine = OneThread(disk: disk)
        _ = engine.ask(.event(.number(1)))
        run(engine)
        for number in 2...100 { _ = engine.ask(.event(.number(number))) }
        run(engine)
        #expect(disk.waiting.count == 1)
        #expect(disk.sync())
        run(engine)
        #expect(disk.waiting.count == 99)
    }

    /// Time passes by entries alone, so a recall fires the same timers; many deadlines share one entry.
    @Test func aTimerThatIsDueTakesAnEntry() {
        let disk = ManualDisk()
        let engine = OneThread(disk: disk)
        engine.begin()
        for number in 1...3 {
            engine.card(number)
            engine.pass(.milliseconds(100))
        }
        let before = disk.durable.count { $0.body == .tick }
        let pushes = engine.transport.accepted.count
        engine.pass(.seconds(10))
        #expect(disk.durable.count { $0.body == .tick } > before)
        #expect(engine.transport.accepted.count > pushes)
        #expect(engine.transport.accepted.last?.state.contains(#""homeYellow":3"#) == true)
        let ticks = disk.durable.filter { $0.body == .tick }.map(\.now)
        for (a, b) in zip(ticks, ticks.dropFirst()) { #expect(b - a >= .milliseconds(90), "\(a) \(b)") }
    }

    /// A stream of calls that make no entries leaves time standing for nobody.
    @Test func timePassesWhilePeopleFollow() {
        let disk = ManualDisk()
        let engine = OneThread(disk: disk)
        engine.begin()
        for number in 1...3 { engine.card(number) }
        engine.settle()
        for number in 0..<200 {
            engine.follow(UInt64(number + 2))
            engine.clock.pass(.milliseconds(50))
            _ = engine.turn.run()
            _ = disk.sync()
        }
        engine.settle()
        #expect(disk.durable.contains { $0.body == .tick })
        #expect(engine.transport.accepted.last?.state.contains(#""homeYellow":3"#) == true)
    }

    /// Decides the entries again in another core.
    @Test func theEntriesAloneMakeTheSameDecisions() {
        let disk = ManualDisk()
        let engine = OneThread(disk: disk)
        engine.begin()
        for number in 1...5 {
            engine.card(number)
            engine.goal(number)
            engine.pass(.seconds(number))
        }
        _ = engine.ask(
            .eventNow { FeedEvent(topic: OneThread.match, at: $0, kind: "pause", change: .operation(.pause)) })
        engine.goal(6)
        engine.pass(.seconds(10))
        engine.stop(within: .seconds(10))
        engine.settle()
        #expect(disk.durable.last?.body == .feedEnd)
        let again = OneThread()
        for entry in disk.durable { again.core.apply(entry) }
        #expect(again.records == engine.records)
        #expect(!engine.records.isEmpty)
    }

    /// A timer that is due waits for an entry that waits for rows, and no turn is wasted on it meanwhile.
    @Test func nothingRunsWhileAnEntryWaitsForRows() {
        let disk = ManualDisk()
        let engine = OneThread(disk: disk)
        engine.begin()
        for number in 1...3 { engine.card(number) }
        engine.settle()
        let card = Card(
            subscriber: "anna", activity: "card", token: [1], audience: .topic(OneThread.match),
            startedAt: engine.clock.truth)
        #expect(engine.ask(.person(.follow(card), .follow(card.subscription(), app: 0), nil)))
        engine.goal(1)
        while engine.turn.run() == .again {}
        #expect(disk.waiting.count == 1 && disk.rows.count == 1)
        disk.keepsRows = false
        #expect(disk.sync())
        engine.clock.pass(.seconds(60))
        var turns = 0
        while turns < 10, engine.turn.run() == .again { turns += 1 }
        // Two seconds are over: operators are told, and the entry goes on.
        #expect(turns < 10 && engine.records.contains { $0.kind == "goal" }, "\(turns) turns")
    }

    /// An order releases changes by a timer that fires with the next entry.
    @Test func aSettleWaitsForWhatTheOrderBeforeItReleases() {
        let disk = ManualDisk()
        let engine = OneThread(disk: disk)
        engine.begin()
        engine.card(1)
        engine.pass(.seconds(60))
        engine.card(2)
        engine.settle()
        engine.card(3)
        _ = engine.ask(
            .eventNow { FeedEvent(topic: OneThread.match, at: $0, kind: "republish", change: .operation(.republish)) })
        let answers = Locked(0)
        _ = engine.ask(.settle(until: .never) { _ in answers.withLock { $0 += 1 } })
        _ = engine.turn.run()
        #expect(disk.sync())
        _ = engine.turn.run()
        engine.runShard()
        engine.takeFeedback()
        #expect(answers.withLock { $0 } == 0)
        engine.settle()
        #expect(answers.withLock { $0 } == 1)
        #expect(engine.transport.accepted.last?.state.contains(#""homeYellow":3"#) == true)
    }

    // MARK: Trouble

    @Test func aSettleIsAnsweredInTimeAlthoughTheDiskTakesNothing() {
        let disk = ManualDisk()
        let engine = OneThread(disk: disk)
        engine.begin()
        let answers = Locked<[Settlement]>([])
        let until = engine.clock.now + .seconds(1)
        disk.isStuck = true
        engine.goal(1)
        _ = engine.ask(.settle(until: until) { answer in answers.withLock { $0.append(answer) } })
        engine.pass(.milliseconds(900))
        #expect(answers.withLock { $0.isEmpty })
        engine.pass(.milliseconds(200))
        #expect(answers.withLock { $0 } == [.unknown])
    }

    @Test func aSlowDiskIsToldOnceAndItsRecovery() {
        let disk = ManualDisk()
        let engine = OneThread(disk: disk)
        engine.begin()
        disk.isStuck = true
        engine.goal(1)
        engine.pass(.milliseconds(1900))
        #expect(engine.reports.isEmpty)
        engine.pass(.seconds(5))
        #expect(engine.reports.count == 1 && engine.reports[0].contains("taken nothing for 2 s"), "\(engine.reports)")
        disk.isStuck = false
        engine.pass(.milliseconds(100))
        #expect(engine.reports.last == "the store answers again", "\(engine.reports)")
        #expect(engine.records.contains { $0.kind == "goal" })
    }

    /// A turn that takes what a slow commit has made durable begins the next commit at once.
    @Test func theRecoveryOfASlowDiskIsToldUnderLoad() {
        let disk = ManualDisk()
        let engine = OneThread(disk: disk)
        engine.begin()
        disk.isStuck = true
        engine.goal(1)
        engine.pass(.seconds(5))
        _ = engine.ask(.event(.number(1)))
        disk.isStuck = false
        #expect(disk.sync())
        _ = engine.turn.run()
        #expect(!disk.waiting.isEmpty)
        #expect(engine.reports.last == "the store answers again", "\(engine.reports)")
    }

    /// An event that no log takes is rejected, and holds up none behind it.
    @Test func anEventThatIsTooLargeIsRejected() {
        let disk = ManualDisk()
        let engine = OneThread(disk: disk)
        engine.begin()
        var large = FeedEvent.number(1)
        large.change = .patch(["text": .string(String(repeating: "x", count: EntryMaker.eventSizeMax.bytes))])
        _ = engine.ask(.event(large))
        _ = engine.ask(.event(.number(2)))
        engine.settle()
        let bodies = disk.durable.map(\.body).suffix(2)
        guard case .rejection(let rejection) = bodies.first, case .event(let event, _) = bodies.last else {
            Issue.record("\(bodies)")
            return
        }
        #expect(rejection.reason.contains("16 MB"))
        #expect(event.seq == 2)
    }

    /// A stop ends without the disk, two seconds after its time; callers and questions get their answers.
    @Test func aStopEndsAlthoughTheDiskTakesNothing() {
        let disk = ManualDisk()
        let engine = OneThread(disk: disk)
        engine.begin()
        disk.isStuck = true
        let entries = Locked<[UInt64?]>([])
        let answers = Locked(0)
        let isOver = Locked(false)
        engine.turn.onOver = { isOver.withLock { $0 = true } }
        for number in 1...2 {
            _ = engine.ask(.acknowledged(.event(.number(number))) { entry in entries.withLock { $0.append(entry) } })
            _ = engine.ask(.counts { _ in answers.withLock { $0 += 1 } })
            engine.settle()
        }
        _ = engine.ask(.settle(until: .never) { _ in answers.withLock { $0 += 1 } })
        engine.stop(within: .seconds(1))
        engine.pass(.milliseconds(2900))
        #expect(!isOver.withLock { $0 })
        engine.pass(.milliseconds(200))
        #expect(isOver.withLock { $0 })
        // The loop may call once more, with a timer that is due.
        let entriesAtEnd = disk.waiting.count
        engine.clock.pass(.seconds(60))
        #expect(engine.turn.run() == .after(nil))
        #expect(disk.waiting.count == entriesAtEnd)
        #expect(engine.reports.last?.hasPrefix("the engine stopped before") == true, "\(engine.reports)")
        engine.core.stop(within: .zero)
        #expect(entries.withLock { $0 } == [nil, nil])
        #expect(answers.withLock { $0 } == 3)
        #expect(disk.intake.lost == 2)
        #expect(engine.reports.contains { $0.contains("2 events are not known to be durable") }, "\(engine.reports)")
    }

    /// A full disk fills the mailbox, so callers hear of it; nothing is lost when it is free again.
    @Test func aStuckDiskHoldsCallersBack() {
        let disk = ManualDisk()
        let engine = OneThread(mailbox: 16, disk: disk)
        disk.isStuck = true
        var taken = 0
        while taken < 2 * Intake.itemsMax, engine.ask(.event(.number(taken + 1))) {
            taken += 1
            engine.settle()
        }
        #expect(taken == Intake.itemsMax + 16)
        disk.isStuck = false
        engine.settle()
        #expect(engine.records.count { $0.origin == .event } == taken)
    }
}
