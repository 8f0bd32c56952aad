import FanfareModel
import FanfareQueues
import Testing

@testable import FanfareFanOut

/// A scanner over activities with a lifetime of one day, whose only property is the time at which each is due.
@Suite struct AgeScannerTests {
    private static let start: MonotonicTime = 0
    private static let second = start + .seconds(1)
    private static let lifetime = Duration.seconds(86_400)
    /// A 300th of a 96th of a lifetime.
    private static let step = Duration.seconds(3)

    private struct Run {
        var scanner = AgeScanner(lifetime: AgeScannerTests.lifetime.nanoseconds)
        var wheel = ShardTimers()
        /// Due times of the activities, by slot; `nil` after a visit at or after the due time.
        var due: [MonotonicTime?] = []
        var passes: [MonotonicTime] = []
        var visits = 0

        mutating func schedule(at due: MonotonicTime) {
            guard scanner.needsTimer(at: due) else { return }
            if let timer = scanner.timer { wheel.cancel(timer.entry) }
            scanner.set(AgeScanner.Timer(due: due, entry: wheel.insert(.ageScan, due: due)))
        }

        mutating func add(due: MonotonicTime) {
            self.due.append(due)
            scanner.expect(due)
            schedule(at: due)
        }

        /// - Returns: slots of the activities found due.
        ///
        /// - Parameter newcomer: time at which an activity is due that is added during the pass's first visit.
        mutating func pass(at now: MonotonicTime, adding newcomer: MonotonicTime? = nil) -> [Int] {
            var found: [Int] = []
            passes.append(now)
            let count = due.count
            for _ in 0..<scanner.beginPass(over: count, at: now) {
                let slot = Int(scanner.nextVisit(at: now).rawValue)
                if let newcomer, due.count == count { add(due: newcomer) }
                visits += 1
                if let due = due[slot], due <= now {
                    found.append(slot)
                    self.due[slot] = nil
                }
                guard scanner.endVisit(due: due[slot], at: now) else { break }
            }
            if let next = scanner.nextPass(hasActivities: due.contains { $0 != nil }, at: now) { schedule(at: next) }
            #expect(scanner.violation(hasActivities: due.contains { $0 != nil }, slots: due.count) == nil)
            return found
        }

        /// Makes a pass whenever the timer is due.
        mutating func run(until end: MonotonicTime) -> [(slot: Int, at: MonotonicTime)] {
            var found: [(slot: Int, at: MonotonicTime)] = []
            while let due = scanner.timer?.due, due <= end {
                found += pass(at: due).map { ($0, due) }
            }
            return found
        }
    }

    @Test(arguments: UInt64(1)...20) func activitiesAreFoundWithinALapOfWhenTheyAreDue(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var run = Run()
        let count = Int.random(in: 1...2000, using: &random)
        for _ in 0..<count {
            let wait = Int64.random(in: 0...AgeScannerTests.lifetime.nanoseconds, using: &random)
            run.add(due: MonotonicTime(nanoseconds: wait))
        }
        let due = run.due
        let found = run.run(until: AgeScannerTests.start + AgeScannerTests.lifetime * 2)
        #expect(found.map(\.slot).sorted() == Array(0..<count))
        for (slot, at) in found {
            let late = at - (due[slot] ?? .never)
            #expect((.zero...AgeScannerTests.lifetime * 2 / 96).contains(late), "slot \(slot), \(late)")
        }
    }

    /// A card that is renewed takes a slot while the pass goes on, and no visit of a card that is due.
    @Test func anActivityAddedDuringAPassTakesNoVisitOfAnother() {
        var run = Run()
        for _ in 0..<9 { run.add(due: AgeScannerTests.start + AgeScannerTests.step) }
        // The first step of a lap visits the first slot, which is not due yet.
        run.schedule(at: 0)
        #expect(run.pass(at: 0).isEmpty && run.visits == 1)
        let found = run.pass(
            at: AgeScannerTests.start + AgeScannerTests.step * 1000,
            adding: AgeScannerTests.start + AgeScannerTests.lifetime)
        #expect(Set(found) == Set(0..<9))
    }

    @Test func scannerSleepsUntilTheFirstActivityIsDue() {
        var run = Run()
        let first = AgeScannerTests.start + .seconds(10 * 3600)
        for slot in 0..<10 { run.add(due: first + .seconds(slot * 3600)) }
        #expect(run.run(until: first - .nanoseconds(1)).isEmpty && run.passes.isEmpty)
        #expect(run.run(until: first).map(\.slot) == [0])
        #expect(run.passes == [first])
    }

    @Test func passVisitsNoMoreThanItsStepsShare() {
        var run = Run()
        for _ in 0..<3000 { run.add(due: AgeScannerTests.second) }
        _ = run.pass(at: AgeScannerTests.second)
        #expect(run.visits == 11)
        #expect(run.scanner.timer?.due == AgeScannerTests.second + AgeScannerTests.step)
    }

    @Test func longPauseIsMadeUpForByOneLapAtMost() {
        var run = Run()
        for _ in 0..<3000 { run.add(due: AgeScannerTests.second) }
        let found = run.pass(at: AgeScannerTests.start + AgeScannerTests.lifetime)
        #expect(run.visits == 3000 && found.count == 3000)
    }

    @Test func passOverManyIsCutAndGoesOnAtOnce() {
        var run = Run()
        for _ in 0..<20_000 { run.add(due: AgeScannerTests.second) }
        let now = AgeScannerTests.start + AgeScannerTests.lifetime
        #expect(run.pass(at: now).count == AgeScanner.visitsMax)
        let found = run.run(until: now + .seconds(1))
        #expect(found.count == 20_000 - AgeScanner.visitsMax)
        #expect(run.passes.count == (20_000 + AgeScanner.visitsMax - 1) / AgeScanner.visitsMax)
        #expect(run.visits == 20_000)
    }

    @Test func activityThatComesBehindTheCursorIsFoundInTheNextLap() {
        var run = Run()
        for _ in 0..<600 { run.add(due: AgeScannerTests.second) }
        _ = run.pass(at: AgeScannerTests.second)
        // The cursor has passed this slot.
        let now = AgeScannerTests.second + .seconds(1)
        run.due[0] = now
        run.scanner.revisit(at: now)
        run.schedule(at: now)
        let found = run.run(until: AgeScannerTests.start + AgeScannerTests.lifetime / 40)
        #expect(found.contains { $0.slot == 0 })
    }

    @Test func timerThatStandsIsReplacedOnlyByASoonerOne() {
        var run = Run()
        #expect(run.scanner.needsTimer(at: 100))
        run.schedule(at: 100)
        #expect(!run.scanner.needsTimer(at: 100) && run.scanner.needsTimer(at: 99))
        run.schedule(at: 50)
        #expect(run.scanner.timer?.due == 50 && run.wheel.count == 1)
    }

    @Test func scannerWithoutATimerIsAViolationWhileThereAreActivities() {
        let scanner = AgeScanner(lifetime: AgeScannerTests.lifetime.nanoseconds)
        #expect(scanner.violation(hasActivities: false, slots: 0) == nil)
        #expect(scanner.violation(hasActivities: true, slots: 1) != nil)
    }
}
