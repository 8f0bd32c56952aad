import FanfareModel
import FanfareQueues
import Testing

@Suite struct TimingWheelTests {
    private typealias Wheel = TimingWheel<Int>

    private static let tick = Wheel.tickNanoseconds
    private static let hour = MonotonicTime(nanoseconds: 3_600_000_000_000)

    /// The simplest model of a wheel: a list of entries in order of expiry.
    private struct SortedList {
        var entries: [(expires: MonotonicTime, due: MonotonicTime, number: Int, entry: Wheel.Entry)] = []

        mutating func insert(_ number: Int, due: MonotonicTime, _ entry: Wheel.Entry) {
            let expires = TimingWheelTests.expiry(due)
            let place = entries.firstIndex { $0.expires > expires } ?? entries.endIndex
            entries.insert((expires, due, number, entry), at: place)
        }
    }

    /// The first tick that is not before a moment.
    private static func expiry(_ due: MonotonicTime) -> MonotonicTime {
        MonotonicTime(nanoseconds: (due.nanoseconds + tick - 1) / tick * tick)
    }

    /// The wheel agrees with a list after random inserts, cancellations and pauses of nanoseconds to hours, some right before or after a due
    /// time.
    @Test(arguments: UInt64(1)...40) func timingWheelAgreesWithASortedList(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        // Lists move whole, or in pieces between which entries come and go.
        var wheel = Wheel(movesMax: [1, 3, 4096][Int(seed % 3)])
        var list = SortedList()
        var now = MonotonicTime(
            nanoseconds: Int64.random(in: 0...1 << Int64.random(in: 0...55, using: &random), using: &random))
        var number = 0
        var most = 0
        func span() -> Duration {
            .nanoseconds(Int64.random(in: 0...1 << Int64.random(in: 0...50, using: &random), using: &random))
        }

        for step in 0..<1000 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                // Entries often have the due time of others.
                let due =
                    random.chance(0.3) ? list.entries.randomElement(using: &random).map { max($0.due, now) } : nil
                for _ in 0..<(random.chance(0.1) ? 50 : 1) {
                    let wanted = due ?? now + span()
                    list.insert(number, due: wanted, wheel.insert(number, due: wanted))
                    number += 1
                }
                most = max(most, list.entries.count)
            case 5..<7:
                guard let index = list.entries.indices.randomElement(using: &random) else { break }
                wheel.cancel(list.entries.remove(at: index).entry)
            default:
                let aim = list.entries.randomElement(using: &random).map {
                    $0.due + .nanoseconds(Int64.random(in: -1...1, using: &random))
                }
                now = random.chance(0.5) ? max(now, aim ?? now) : now + span()
                // Each pull takes some entries, and the next one goes on.
                for _ in 0..<Int.random(in: 0...100, using: &random) {
                    let due = list.entries.first.flatMap { $0.expires <= now ? $0 : nil }
                    var expired = wheel.popDue(now)
                    while expired == nil, due != nil, random.chance(0.7) || list.entries.count > 2000 {
                        expired = wheel.popDue(now)
                    }
                    if expired == nil, due != nil {
                        // A list still moves.
                        #expect(try #require(wheel.nextDue) <= now, "seed \(seed)")
                        break
                    }
                    try #require(expired == due.map(\.number), "seed \(seed)")
                    guard let due else { break }
                    #expect(due.due <= now, "early: seed \(seed)")
                    list.entries.removeFirst()
                }
            }
            try #require(wheel.count == list.entries.count, "seed \(seed)")
            if step % 10 == 0 { try #require(wheel.violation() == nil, "seed \(seed), step \(step)") }
            if let first = list.entries.first {
                #expect((wheel.nextDue ?? .never) <= max(now, first.expires), "late: seed \(seed)")
                #expect(wheel.due(of: first.entry) == first.expires, "seed \(seed)")
                #expect(wheel.subject(of: first.entry) == first.number, "seed \(seed)")
            } else {
                #expect(wheel.nextDue == nil, "seed \(seed)")
            }
        }
        #expect(wheel.capacity == most, "what is free is used again: seed \(seed)")
        #expect(wheel.subjects.count == wheel.count && Set(wheel.subjects).count == wheel.count, "seed \(seed)")
    }

    /// A million entries of one list took 0.2 s to move, in which no push left.
    @Test func aLongListMovesInPieces() throws {
        var wheel = Wheel()
        for number in 0..<100_000 { wheel.insert(number, due: Self.hour) }
        var pieces = 0
        var first: Int?
        while first == nil {
            pieces += 1
            #expect(try #require(wheel.nextDue) <= Self.hour)
            first = wheel.popDue(Self.hour)
            #expect(wheel.violation() == nil)
            // An entry of the same tick expires behind all others, whenever it comes.
            if pieces == 3 { wheel.insert(-1, due: Self.hour) }
        }
        #expect(pieces >= 100_000 / 4096)
        #expect(first == 0)
        let rest = (1...100_000).map { _ in wheel.popDue(Self.hour) }
        #expect(rest == Array(1..<100_000) + [-1])
        #expect(wheel.popDue(Self.hour) == nil && wheel.count == 0)
    }

    /// Each wake-up at `nextDue` finds an expired entry, however far away that was.
    @Test func movingEntriesNeedsNoWakeUp() {
        var random = SplitMix64(seed: 7)
        var wheel = Wheel()
        var moments: Set<MonotonicTime> = []
        for number in 0..<5000 {
            let due = MonotonicTime(
                nanoseconds: 1 + Int64.random(in: 0..<8 * TimingWheelTests.hour.nanoseconds, using: &random))
            moments.insert(TimingWheelTests.expiry(due))
            wheel.insert(number, due: due)
        }
        var wakeUps = 0
        while let due = wheel.nextDue {
            wakeUps += 1
            #expect(wheel.popDue(due - .nanoseconds(1)) == nil)
            var expired = 0
            while wheel.popDue(due) != nil { expired += 1 }
            guard expired > 0 else { break }
        }
        #expect(wakeUps == moments.count && wheel.count == 0)
    }

    /// The due time of a cancelled entry may still cause a wake-up, but only one.
    @Test func cancelledEntriesCauseAtMostOneWakeUp() {
        var wheel = Wheel()
        wheel.insert(-1, due: TimingWheelTests.hour + .seconds(7 * 3600))
        var wakeUp: Wheel.Entry?
        for goal in 0..<1000 {
            if let wakeUp { wheel.cancel(wakeUp) }
            wakeUp = wheel.insert(0, due: TimingWheelTests.hour + .seconds(goal * 20))
        }
        var wakeUps = 0
        while let due = wheel.nextDue {
            _ = wheel.popDue(due)
            wakeUps += 1
            guard wakeUps < 100 else { break }
        }
        #expect(wakeUps <= 2 + 8, "one for each, and for each level that they stood in")
        #expect(wheel.capacity == 2)
    }

    @Test func theEndOfTimeIsNotTooFar() {
        var wheel = Wheel()
        wheel.insert(-1, due: .never)
        wheel.insert(1, due: MonotonicTime(nanoseconds: 1))
        #expect(wheel.nextDue == MonotonicTime(nanoseconds: 1_000_000))
        #expect(wheel.popDue(MonotonicTime(nanoseconds: 999_999)) == nil)
        #expect(wheel.popDue(.never) == 1)
        #expect(wheel.popDue(.never) == -1)
        #expect(wheel.nextDue == nil)
    }

    @Test func anOverdueTimerExpiresNext() {
        var wheel = Wheel()
        wheel.insert(1, due: TimingWheelTests.hour)
        #expect(wheel.popDue(TimingWheelTests.hour) == 1)
        wheel.insert(2, due: TimingWheelTests.hour + .nanoseconds(1))
        wheel.insert(3, due: MonotonicTime(nanoseconds: 5))
        #expect(wheel.nextDue == TimingWheelTests.hour)
        #expect(wheel.popDue(TimingWheelTests.hour) == 3)
        #expect(wheel.popDue(TimingWheelTests.hour) == nil)
    }
}
