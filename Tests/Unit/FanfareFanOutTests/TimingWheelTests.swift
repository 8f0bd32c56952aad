import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct TimingWheelTests {
    private static let tick = TimingWheel.tickNanoseconds
    private static let hour: MonotonicTime = 3_600_000_000_000

    /// The simplest model of a wheel: a list of entries in order of expiry.
    private struct SortedList {
        var entries: [(expires: MonotonicTime, due: MonotonicTime, number: UInt32, entry: TimingWheel.Entry)] = []

        mutating func insert(_ number: UInt32, due: MonotonicTime, _ entry: TimingWheel.Entry) {
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
        var wheel = TimingWheel(movesMax: [1, 3, 4096][Int(seed % 3)])
        var list = SortedList()
        var now = MonotonicTime(
            nanoseconds: Int64.random(in: 0...1 << Int64.random(in: 0...55, using: &random), using: &random))
        var number: UInt32 = 0
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
                    list.insert(number, due: wanted, wheel.insert(.lineup(AudienceIndex(Int(number))), due: wanted))
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
                    try #require(expired == due.map { .lineup(AudienceIndex(Int($0.number))) }, "seed \(seed)")
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
                #expect(wheel.subject(of: first.entry) == .lineup(AudienceIndex(Int(first.number))), "seed \(seed)")
            } else {
                #expect(wheel.nextDue == nil, "seed \(seed)")
            }
        }
        #expect(wheel.capacity == most, "what is free is used again: seed \(seed)")
        #expect(wheel.subjects.count == wheel.count && Set(wheel.subjects).count == wheel.count, "seed \(seed)")
    }

    /// Each wake-up at `nextDue` finds an expired entry, however far away that was.
    /// A million entries of one list took 0.2 s to move, in which no push left.
    @Test func aLongListMovesInPieces() throws {
        var wheel = TimingWheel()
        for number in 0..<UInt32(100_000) { wheel.insert(.lineup(AudienceIndex(Int(number))), due: Self.hour) }
        var pieces = 0
        var first: TimingWheel.Subject?
        while first == nil {
            pieces += 1
            #expect(try #require(wheel.nextDue) <= Self.hour)
            first = wheel.popDue(Self.hour)
            #expect(wheel.violation() == nil)
            // An entry of the same tick expires behind all others, whenever it comes.
            if pieces == 3 { wheel.insert(.quarantine, due: Self.hour) }
        }
        #expect(pieces >= 100_000 / 4096)
        #expect(first == .lineup(0))
        let rest = (1...100_000).map { _ in wheel.popDue(Self.hour) }
        #expect(rest == (1..<UInt32(100_000)).map { .lineup(AudienceIndex(Int($0))) } + [.quarantine])
        #expect(wheel.popDue(Self.hour) == nil && wheel.count == 0)
    }

    @Test func movingEntriesNeedsNoWakeUp() {
        var random = SplitMix64(seed: 7)
        var wheel = TimingWheel()
        var moments: Set<MonotonicTime> = []
        for number in UInt32(0)..<5000 {
            let due = MonotonicTime(
                nanoseconds: 1 + Int64.random(in: 0..<8 * TimingWheelTests.hour.nanoseconds, using: &random))
            moments.insert(TimingWheelTests.expiry(due))
            wheel.insert(.lineup(AudienceIndex(Int(number))), due: due)
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
        var wheel = TimingWheel()
        wheel.insert(.ageScan, due: TimingWheelTests.hour + .seconds(7 * 3600))
        var wakeUp: TimingWheel.Entry?
        for goal in 0..<1000 {
            if let wakeUp { wheel.cancel(wakeUp) }
            wakeUp = wheel.insert(.lineup(0), due: TimingWheelTests.hour + .seconds(goal * 20))
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
        var wheel = TimingWheel()
        wheel.insert(.quarantine, due: .never)
        wheel.insert(.lineup(1), due: 1)
        #expect(wheel.nextDue == 1_000_000)
        #expect(wheel.popDue(999_999) == nil)
        #expect(wheel.popDue(.never) == .lineup(1))
        #expect(wheel.popDue(.never) == .quarantine)
        #expect(wheel.nextDue == nil)
    }

    @Test func anOverdueTimerExpiresNext() {
        var wheel = TimingWheel()
        wheel.insert(.lineup(1), due: TimingWheelTests.hour)
        #expect(wheel.popDue(TimingWheelTests.hour) == .lineup(1))
        wheel.insert(.lineup(2), due: TimingWheelTests.hour + .nanoseconds(1))
        wheel.insert(.lineup(3), due: 5)
        #expect(wheel.nextDue == TimingWheelTests.hour)
        #expect(wheel.popDue(TimingWheelTests.hour) == .lineup(3))
        #expect(wheel.popDue(TimingWheelTests.hour) == nil)
    }
}
