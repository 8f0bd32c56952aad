import FanfareModel
import Testing

@testable import FanfareDecisions

@Suite struct TimersTests {
    private static func entry(_ deadline: Int, birth: Int, place: Int = 0, _ kind: Timers.Kind = .flush) -> Timers.Entry
    {
        Timers.Entry(
            deadline: FeedTime(milliseconds: Int64(deadline)), birth: UInt64(birth), place: UInt32(place), kind: kind)
    }

    private static func sorted(_ entries: [Timers.Entry]) -> [Timers.Entry] {
        entries.sorted { ($0.deadline, $0.birth, $0.kind.rawValue) < ($1.deadline, $1.birth, $1.kind.rawValue) }
    }

    /// Timers come, fire and are dropped in any order.
    @Test(arguments: 0..<20 as Range<UInt64>) func timersFireInTheOrderOfASortedList(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var timers = Timers()
        var list: [Timers.Entry] = []
        for step in 0..<2000 {
            switch random.number(below: 20) {
            case 0..<11:
                // Births are never equal at one deadline, so the order is total.
                let deadline = step + random.number(below: 30)
                let entry = Self.entry(
                    deadline, birth: random.number(below: 1000) * 2000 + step, place: random.number(below: 9),
                    random.chance(50) ? .flush : .lapse)
                timers.insert(entry)
                list = Self.sorted(list + [entry])
            case 11..<19:
                let due = list.isEmpty ? nil : list.removeFirst()
                let fired = timers.removeFirst()
                #expect(fired == due, "seed \(seed), step \(step)")
            default:
                let kept = random.number(below: 4)
                timers.keep { $0.birth % 4 != kept }
                list.removeAll { $0.birth % 4 == kept }
            }
            #expect(timers.first == list.first && timers.count == list.count, "seed \(seed), step \(step)")
            if step % 100 == 0 { #expect(timers.violation(armed: list) == nil, "seed \(seed), step \(step)") }
        }
        #expect(Self.sorted(timers.entries) == list, "seed \(seed)")
    }

    @Test func aTimerThatATopicCountsOnIsMissed() {
        var timers = Timers()
        timers.insert(Self.entry(5, birth: 1))
        #expect(timers.violation(armed: [Self.entry(5, birth: 1)]) == nil)
        for other in [Self.entry(5, birth: 2), Self.entry(6, birth: 1), Self.entry(5, birth: 1, .lapse)] {
            #expect(timers.violation(armed: [other]) != nil)
        }
    }

    /// Nodes that have forgotten different topics fire alike.
    @Test func equalDeadlinesFireByBirthAndThenFlushBeforeLapse() {
        let rows = [
            Self.entry(1, birth: 9, place: 0, .lapse), Self.entry(2, birth: 3, place: 7),
            Self.entry(2, birth: 3, .lapse),
            Self.entry(2, birth: 4, place: 1), Self.entry(3, birth: 1, place: 5),
        ]
        for turn in 0..<rows.count {
            var timers = Timers()
            for row in rows[turn...] + rows[..<turn] { timers.insert(row) }
            let fired = (0..<rows.count).compactMap { _ in timers.removeFirst() }
            #expect(fired == rows)
        }
    }
}

@Suite struct DeadlinesTests {
    @Test func eachKindHasADeadlineAndAnArmedOneOfItsOwn() {
        var deadlines = Deadlines()
        #expect(deadlines[.flush] == nil && deadlines[.lapse] == nil)
        #expect(deadlines.armed(.flush) == nil && deadlines.armed(.lapse) == nil)
        deadlines[.flush] = at(1)
        deadlines[.lapse] = at(2)
        deadlines.arm(.flush, at(3))
        deadlines.arm(.lapse, at(4))
        #expect(deadlines[.flush] == at(1) && deadlines[.lapse] == at(2))
        #expect(deadlines.armed(.flush) == at(3) && deadlines.armed(.lapse) == at(4))
        deadlines[.flush] = nil
        deadlines.arm(.lapse, nil)
        #expect(deadlines[.flush] == nil && deadlines[.lapse] == at(2))
        #expect(deadlines.armed(.flush) == at(3) && deadlines.armed(.lapse) == nil)
    }
}
