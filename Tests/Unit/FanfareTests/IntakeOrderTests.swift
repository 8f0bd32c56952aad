import FanfareLog
import FanfareLoop
import FanfareModel
import Testing

@testable import Fanfare

/// Order in which an engine with a store carries out what it takes, and how long an entry waits for rows.
@Suite struct IntakeOrderTests {
    /// An intake over a store that a test lets sync.
    private final class Bench {
        enum Done: Equatable {
            case entry(UInt64)
            case change(Int)
            case question
        }

        private(set) lazy var intake = Intake(
            commit: { [unowned self] in
                commits.append($0)
                entriesWait = true
            },
            write: { [unowned self] in
                writes.append($0)
                for case .move(let id, _, let joinedAt?) in $0 {
                    joins.append(joinedAt)
                    joined[id.text ?? ""] = joinedAt
                }
                rowsWait = true
            })
        private(set) var commits: [[LogEntry]] = []
        private(set) var writes: [[PeopleEntry]] = []
        private(set) var entriesWait = false
        private(set) var rowsWait = false
        /// For each event that is durable, the number of writes of rows by then.
        private var writesBefore: [UInt64: Int] = [:]
        /// Log times of changes that were sent to the store and are not carried out, and those of all by their numbers.
        private(set) var joins: [FeedTime] = []
        private var joined: [String: FeedTime] = [:]
        /// Log times of the newest event that was carried out, and of the newest change.
        private var newest = (event: FeedTime.plausible.lowerBound, join: FeedTime.plausible.lowerBound)
        private(set) var violation: String?
        private var end: LogPosition = 0
        /// Calls that were carried out.
        private(set) var done: [Done] = []
        private(set) var acknowledged: [Int] = []
        private var now = FeedTime(seconds: 1_790_000_000)
        private let answered = Locked<[Int]>([])

        static func key(_ number: Int) -> CallKey {
            do throws(IdempotencyKey.Fault) {
                return CallKey(try IdempotencyKey("\(number)"), content: UInt64(number))
            } catch { preconditionFailure("a number is a key: \(error)") }
        }

        func entry(_ number: UInt64) {
            now = now + .milliseconds(1)
            var event = FeedEvent.number(Int(number))
            event.at = now
            intake.hold(LogEntry(now: now, .event(event, wall: nil)), nil)
        }

        func change(_ number: Int, isKeyed: Bool = false) {
            let id = ActivityID("\(number)")
            let answer = { @Sendable [answered] in answered.withLock { $0.append(number) } }
            var change = Intake.Change(
                entry: .move(id, .topic(TopicID("match/1"))),
                request: .command(.unfollow(id), subscriber: UInt64(number), app: 0), acknowledge: { _ in })
            if isKeyed {
                change.key = (LogEntry(now: now, key: Bench.key(number), .tick), { _, _ in answer() })
            } else {
                change.acknowledge = { _ in answer() }
            }
            intake.hold(change)
        }

        func question() { intake.hold(CoreRequest.counts { _ in }) }

        /// Is `true` once entries do not wait for rows.
        private(set) var isImpatient = false
        func losePatience() {
            isImpatient = true
            _ = intake.rowTransition(at: .never)
        }

        func run() {
            while let item = intake.take() {
                switch item {
                case .durable(let entry, _):
                    guard case .event(let event, _) = entry.body, let number = event.seq else { continue }
                    done.append(.entry(number))
                    newest.event = entry.now
                    if entry.now <= newest.join, !isImpatient { violation = "event \(number) is late" }
                    if writes.count != writesBefore[number] { violation = "event \(number) waited for rows" }
                case .kept(.command(_, let number, _), _, _):
                    done.append(.change(Int(number)))
                    joins.removeFirst()
                    newest.join = joined["\(number)"] ?? newest.join
                    // Alerts of events up to there do not concern the card, and those of later ones do.
                    if newest.event > newest.join, !isImpatient { violation = "change \(number) joined too early" }
                case .request, .kept: done.append(.question)
                }
                check()
            }
            intake.send(at: .always, now: FeedTime.plausible.lowerBound)
            check()
            if intake.hasReady { run() }
        }

        private func check() {
            if intake.joining != joins.first {
                violation = "joining at \(String(describing: intake.joining)), not \(String(describing: joins.first))"
            }
            violation = intake.violation() ?? violation
        }

        func syncEntries() {
            guard entriesWait, let commit = commits.last else { return }
            entriesWait = false
            let first = end + 1
            end += LogPosition(commit.count)
            for case .event(let event, _) in commit.map(\.body) { writesBefore[event.seq ?? 0] = writes.count }
            intake.entriesAreDurable(from: first)
            acknowledged = answered.withLock { $0 }
            run()
        }

        func syncRows() {
            guard rowsWait, let rows = writes.last else { return }
            rowsWait = false
            intake.rowsAreDurable(kept: rows.map { _ in true })
            acknowledged = answered.withLock { $0 }
            run()
        }

        func sync() {
            syncEntries()
            syncRows()
        }

        func finish() {
            run()
            while intake.isCommitting { sync() }
        }
    }

    /// A million people may follow while a goal falls.
    @Test func anEventWaitsForTheRowsThatAreBeingWrittenAndForNoOthers() {
        let bench = Bench()
        for number in 0..<10_000 { bench.change(number) }
        bench.run()
        #expect(bench.writes.last?.count == Intake.rowsMax)
        bench.entry(1)
        bench.run()
        bench.syncEntries()
        #expect(bench.done.isEmpty)
        bench.syncRows()
        #expect(bench.done.count == Intake.rowsMax + 1 && bench.done.last == .entry(1))
        bench.finish()
        #expect(bench.done.compactMap { if case .change(let number) = $0 { number } else { nil } } == Array(0..<10_000))
        #expect(bench.violation == nil)
    }

    /// A disk may take entries and no rows.
    @Test func anEventDoesNotWaitForRowsThatAreStuck() {
        let bench = Bench()
        bench.change(1)
        bench.run()
        bench.entry(1)
        bench.run()
        bench.syncEntries()
        #expect(bench.done.isEmpty)
        bench.losePatience()
        bench.run()
        bench.entry(2)
        bench.run()
        bench.syncEntries()
        #expect(bench.done == [.entry(1), .entry(2)] && bench.intake.joining != nil)
        bench.syncRows()
        #expect(bench.done == [.entry(1), .entry(2), .change(1)] && bench.intake.joining == nil)
        #expect(bench.violation == nil)
    }

    /// The rows are written, and the log takes no key.
    @Test func anEventDoesNotWaitForAKeyThatIsStuck() {
        let bench = Bench()
        bench.change(1, isKeyed: true)
        bench.run()
        bench.entry(1)
        bench.run()
        bench.intake.rowsAreDurable(kept: [true])
        bench.syncEntries()
        #expect(bench.done.isEmpty && bench.commits.count == 2)
        _ = bench.intake.entryTransition(at: .never)
        bench.run()
        #expect(bench.done == [.entry(1)])
    }

    /// The row of a card that is over goes before that of the call that makes another one.
    @Test func aRemovalPrecedesTheChangeThatRevivesTheCard() {
        let bench = Bench()
        bench.intake.ends.remove(ActivityID("card").rawValue, token: 7)
        let card = Card(
            subscriber: "anna", activity: "card", token: [1], audience: .topic(TopicID("match/1")),
            startedAt: FeedTime(seconds: 1_790_000_000))
        let answers = Locked<[Bool?]>([])
        bench.intake.hold(
            Intake.Change(
                entry: .follow(card), request: .confirmDeadTokens,
                acknowledge: { kept in answers.withLock { $0.append(kept) } }))
        bench.change(1)
        bench.run()
        #expect(bench.writes.map(\.count) == [3])
        #expect(bench.writes[0].first == .removed(ActivityID("card").rawValue, token: 7))
        bench.intake.rowsAreDurable(kept: [true, false, true])
        #expect(answers.withLock { $0 } == [false])
    }

    /// A call after the answer is carried out behind the change.
    @Test func anAnswerComesWhenNothingOvertakesTheChange() {
        let bench = Bench()
        bench.change(1, isKeyed: true)
        bench.change(2)
        bench.run()
        bench.intake.rowsAreDurable(kept: [true, true])
        bench.entry(1)
        bench.finish()
        #expect(bench.done == [.change(1), .change(2), .entry(1)])
    }

    /// A change is carried out behind the entries before it, though entries overtake it.
    @Test func aChangeWaitsForTheEntriesBeforeIt() {
        let bench = Bench()
        bench.entry(1)
        bench.run()
        bench.entry(2)
        bench.change(1)
        bench.question()
        bench.entry(3)
        bench.finish()
        #expect(bench.done == [.entry(1), .entry(2), .entry(3), .change(1), .question])
    }

    /// A card whose key is lost has not left, and the repeated call starts it; a key without its card would swallow the call.
    @Test func aKeyIsDurableBehindItsCardAndBeforeTheCallIsCarriedOut() {
        let bench = Bench()
        bench.change(1, isKeyed: true)
        bench.change(2)
        bench.run()
        #expect(bench.writes.map(\.count) == [2] && bench.commits.isEmpty)
        bench.syncRows()
        #expect(bench.acknowledged.isEmpty && bench.done.isEmpty)
        #expect(bench.commits.count == 1 && bench.commits[0].map(\.key) == [Bench.key(1)])
        bench.syncEntries()
        #expect(bench.acknowledged == [1, 2] && bench.done == [.change(1), .change(2)])
    }

    /// A stop gives up a call whose key is not durable: it may be repeated, so it must not leave.
    @Test func aStopDropsACallWhoseKeyIsNotDurable() {
        let bench = Bench()
        bench.change(1, isKeyed: true)
        bench.change(2)
        bench.run()
        bench.syncRows()
        bench.question()
        #expect(bench.intake.abandon().count == 1)
        #expect(bench.intake.lost == 1 && bench.intake.isEmpty)
    }

    @Test(arguments: 1...200 as ClosedRange<UInt64>) func nothingIsLostAndEverythingKeepsItsPlace(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let bench = Bench()
        var entries: UInt64 = 0
        var changes = 0
        var questions = 0
        /// For each change and question, the number of entries and changes before it.
        var before: [(entries: UInt64, changes: Int)] = []
        for _ in 0..<(100 + Int(random.next() % 2000)) {
            switch random.next() % 8 {
            case 0, 1:
                entries += 1
                bench.entry(entries)
            case 2, 3, 4:
                before.append((entries, changes))
                bench.change(changes, isKeyed: random.next() % 8 == 0)
                changes += 1
            case 5:
                before.append((entries, changes))
                questions += 1
                bench.question()
            case 6: bench.run()
            default: if random.next() % 2 == 0 { bench.syncEntries() } else { bench.syncRows() }
            }
        }
        bench.finish()
        #expect(bench.intake.isEmpty && bench.intake.lost == 0, "seed \(seed)")
        var (entriesDone, changesDone) = (UInt64(0), 0)
        var place = before.startIndex
        for done in bench.done {
            if case .entry(let number) = done {
                #expect(number == entriesDone + 1, "seed \(seed)")
                entriesDone = number
                continue
            }
            #expect(before[place].entries <= entriesDone, "seed \(seed): a request overtook an entry")
            #expect(before[place].changes == changesDone, "seed \(seed): a request overtook a change")
            if case .change(let number) = done {
                #expect(number == changesDone, "seed \(seed)")
                changesDone += 1
            }
            place += 1
        }
        #expect(entriesDone == entries && place == before.count && changesDone == changes, "seed \(seed)")
        #expect(bench.acknowledged.sorted() == Array(0..<changes), "seed \(seed)")
        #expect(bench.violation == nil, "seed \(seed): \(bench.violation ?? "")")
        #expect(!bench.writes.contains { $0.isEmpty || $0.count > Intake.rowsMax }, "seed \(seed)")
        let times = bench.commits.flatMap { $0.map(\.now) }
        #expect(times == times.sorted() && !bench.commits.contains { $0.isEmpty }, "seed \(seed)")
    }
}
