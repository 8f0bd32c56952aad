import FanfareModel
import Testing

@testable import Distance

@Suite struct WayTests {
    private static let millisecond: Int64 = 1_000_000

    private static func options(_ change: (inout Way.Options) -> Void = { _ in }) -> Way.Options {
        var options = Way.Options(delay: 25 * millisecond, slowStart: .never)
        change(&options)
        return options
    }

    /// Bytes that have arrived by a time, each with the first time at which a look, one a millisecond, has seen it.
    private static func arrivals(_ way: inout Way, until end: Int64) -> [(byte: UInt8, at: Int64)] {
        var arrivals: [(byte: UInt8, at: Int64)] = []
        for now in stride(from: 0, through: end, by: Int(millisecond)) {
            way.arrive(at: Int64(now)) { bytes in
                arrivals += bytes.map { ($0, Int64(now)) }
                return true
            }
        }
        return arrivals
    }

    @Test func bytesComeOutAfterTheDelayInTheOrderInWhichTheyWentIn() {
        var way = Way(Self.options(), seed: 1)
        way.enter([1, 2], at: 0)
        way.enter([3], at: 0)
        #expect(way.count == 3)
        let arrivals = Self.arrivals(&way, until: 100 * Self.millisecond)
        #expect(arrivals.map(\.byte) == [1, 2, 3])
        #expect(arrivals.allSatisfy { $0.at == 25 * Self.millisecond })
        #expect(way.count == 0)
    }

    @Test func jitterDelaysAndNeverReorders() {
        var way = Way(Self.options { $0.jitter = 20 * Self.millisecond }, seed: 3)
        for byte in 0..<100 as Range<UInt8> { way.enter([byte], at: 0) }
        let arrivals = Self.arrivals(&way, until: 100 * Self.millisecond)
        #expect(arrivals.map(\.byte) == Array(0..<100))
        #expect(arrivals.allSatisfy { (25...46).contains($0.at / Self.millisecond) })
        #expect(Set(arrivals.map(\.at)).count > 1)
    }

    @Test func bandwidthSpreadsWhatEntersAtOnce() {
        var way = Way(Self.options { $0.bytesPerSecond = 1_000_000 }, seed: 1)
        for _ in 0..<10 { way.enter(Array(repeating: 7, count: 10_000), at: 0) }
        let arrivals = Self.arrivals(&way, until: 1000 * Self.millisecond)
        #expect(arrivals.count == 100_000)
        #expect(arrivals.first?.at == 35 * Self.millisecond)
        #expect(arrivals.last?.at == 125 * Self.millisecond)
    }

    @Test func aLossStallsWhatIsBehindItForARoundTrip() {
        var way = Way(Self.options { $0.lossShare = 1 }, seed: 1)
        way.enter([1], at: 0)
        way.enter([2], at: 0)
        let arrivals = Self.arrivals(&way, until: 200 * Self.millisecond)
        #expect(arrivals.map(\.at) == [75, 75].map { $0 * Self.millisecond })
    }

    /// 14,600 bytes leave at once; each round trip doubles that.
    @Test func slowStartDoublesWithEachRoundTrip() {
        var way = Way(Self.options { $0.slowStart = .always }, seed: 1)
        way.enter(Array(repeating: 1, count: 7 * Way.initialWindow), at: 0)
        let arrivals = Self.arrivals(&way, until: 400 * Self.millisecond)
        let byMillisecond = Dictionary(grouping: arrivals) { $0.at / Self.millisecond }.mapValues(\.count)
        #expect(byMillisecond == [25: Way.initialWindow, 75: 2 * Way.initialWindow, 125: 4 * Way.initialWindow])
    }

    @Test func idlenessMakesTheWindowSmallAgainAndOnlyIdleness() {
        var way = Way(Self.options { $0.slowStart = .always }, seed: 1)
        way.enter(Array(repeating: 1, count: 15 * Way.initialWindow), at: 0)
        #expect(Self.arrivals(&way, until: 250 * Self.millisecond).count == 15 * Way.initialWindow)
        /// Bytes that leave at once at that time.
        func width(at now: Int64) -> Int {
            var copy = way
            copy.enter(Array(repeating: 2, count: 100 * Way.initialWindow), at: now)
            var count = 0
            copy.arrive(at: now + 25 * Self.millisecond) {
                count += $0.count
                return true
            }
            return count
        }
        // The last 8 windows left at 150 ms; a pause is 250 ms.
        #expect(width(at: 300 * Self.millisecond) == 16 * Way.initialWindow)
        #expect(width(at: 450 * Self.millisecond) == 8 * Way.initialWindow)
        #expect(width(at: 60_000 * Self.millisecond) == Way.initialWindow)
        way = Way(Self.options { $0.slowStart = .first }, seed: 1)
        way.enter(Array(repeating: 1, count: 15 * Way.initialWindow), at: 0)
        #expect(Self.arrivals(&way, until: 250 * Self.millisecond).count == 15 * Way.initialWindow)
        #expect(width(at: 60_000 * Self.millisecond) == 16 * Way.initialWindow)
    }

    @Test func aWayIsFullAtItsMostUntilBytesHaveArrived() {
        var way = Way(Self.options(), seed: 1)
        way.enter(Array(repeating: 1, count: Way.bytesMax), at: 0)
        #expect(way.isFull)
        way.arrive(at: 25 * Self.millisecond) { _ in true }
        #expect(!way.isFull)
    }

    /// Each byte comes out once, in order, and no sooner than the delay allows, for any draws and any sizes of reads.
    @Test func nothingIsLostOrOvertakenWhateverIsDrawn() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SplitMix64(seed: seed)
        for round in 0..<50 as Range<UInt64> {
            var way = Way(
                Way.Options(
                    delay: Int64.random(in: 0...50, using: &random) * Self.millisecond,
                    jitter: Int64.random(in: 0...20, using: &random) * Self.millisecond,
                    bytesPerSecond: Bool.random(using: &random)
                        ? Int.random(in: 50_000...5_000_000, using: &random) : nil,
                    lossShare: Bool.random(using: &random) ? 0.05 : 0,
                    slowStart: [.always, .first, .never].randomElement(using: &random) ?? .always),
                seed: seed &+ round)
            var entered = 0
            var came = 0
            var isInOrder = true
            var now: Int64 = 0
            while entered < 200_000 || way.count > 0, now < 120_000 * Self.millisecond {
                now += Int64.random(in: 1...20, using: &random) * Self.millisecond
                if entered < 200_000 {
                    let count = Int.random(in: 0...20_000, using: &random)
                    way.enter((entered..<entered + count).map { UInt8(truncatingIfNeeded: $0) }, at: now)
                    entered += count
                }
                var pieces = Int.random(in: 1...5, using: &random)
                way.arrive(at: now) { bytes in
                    for byte in bytes {
                        isInOrder = isInOrder && byte == UInt8(truncatingIfNeeded: came)
                        came += 1
                    }
                    pieces -= 1
                    return pieces > 0
                }
            }
            #expect(isInOrder && came == entered, "seed \(seed), round \(round): \(came) of \(entered)")
        }
    }
}
