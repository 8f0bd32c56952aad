import FanfareModel
import Testing

@testable import FanfareDecisions

@Suite struct PatchOrderTests {
    private static let feed = PatchFeed()

    private static func patch(_ seconds: Double, _ seq: UInt64?, _ value: Int64 = 1) -> FeedEvent {
        feed.set(seconds, ["n": .int(value)], seq: seq, id: seq.map { "p\($0)" })
    }

    /// Fate of a patch: the numbers of earlier patches that count with it, or the outcome of a refusal.
    private enum Fate: Equatable {
        case newest(over: [UInt64])
        case refused(Outcome)
    }

    private static func fate(
        _ patch: FeedEvent, in order: inout PatchOrder, sizeMax: ByteCount = .bytes(1000)
    ) -> Fate {
        switch order.placement(of: patch, tolerance: .seconds(5), sizeMax: sizeMax) {
        case .newest(let doubted):
            order.take(seq: patch.seq, at: patch.at)
            return .newest(over: doubted.map(\.seq))
        case .refused(let outcome, _): return .refused(outcome)
        }
    }

    private static func fates(_ patches: [(Double, UInt64?)]) -> [Fate] {
        var order = PatchOrder()
        return patches.map { fate(patch($0.0, $0.1), in: &order) }
    }

    @Test func patchesWithoutNumbersGoByTheirTimes() {
        #expect(
            Self.fates([(10, nil), (10, nil), (9, nil), (11, nil), (10.5, nil)])
                == [.newest(over: []), .newest(over: []), .refused(.late), .newest(over: []), .refused(.late)])
    }

    @Test func aPatchBesideNumberedOnesGoesByItsTimeIfItHasNoNumber() {
        #expect(
            Self.fates([(10, 5), (9, nil), (20, nil), (15, 6), (16, 6)])
                == [.newest(over: []), .refused(.late), .newest(over: []), .newest(over: []), .refused(.duplicate)])
    }

    @Test func theNewestTimeStaysWhenAGreaterNumberHasAnOlderOne() {
        #expect(Self.fates([(10, 5), (8, 6), (9, nil)]) == [.newest(over: []), .newest(over: []), .refused(.late)])
    }

    /// Patches arrive in another order than they were numbered, some of them twice.
    @Test(arguments: 0..<20 as Range<UInt64>) func aNumberedPatchCountsIfNoGreaterNumberHasCome(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var arrivals = (0..<200).map { UInt64($0 + random.number(below: 5)) }
        for _ in 0..<60 {
            let place = random.number(below: arrivals.count - 1)
            arrivals.swapAt(place, place + 1)
        }
        var order = PatchOrder()
        var newest: UInt64?
        for seq in arrivals {
            // Times are those of the numbers.
            let fate = Self.fate(Self.patch(Double(seq), seq), in: &order)
            let expected: Fate =
                switch newest {
                case let last? where seq == last: .refused(.duplicate)
                case let last? where seq < last: .refused(.late)
                default: .newest(over: [])
                }
            #expect(fate == expected, "seed \(seed), patch \(seq)")
            newest = max(newest ?? 0, seq)
        }
    }

    /// A provider restarts and counts from 1.
    @Test func numbersBeginAnewWithTheSecondPatchThatContradictsThem() {
        #expect(
            Self.fates([(0, 900), (10, 1), (11, 2), (12, 3)])
                == [.newest(over: []), .refused(.late), .newest(over: [1]), .newest(over: [])])
        #expect(
            Self.fates([(0, 900), (12, 3), (10, 1), (11, 2), (13, 4)])
                == [.newest(over: []), .refused(.late), .refused(.late), .newest(over: [1]), .newest(over: [])],
            "the third does not count up from the second alone")
    }

    @Test func aSinglePatchWithALowNumberIsAnOldOneThatWasSentAgain() {
        #expect(
            Self.fates([(0, 900), (10, 1), (11, 901), (12, 2), (13, 902)])
                == [
                    .newest(over: []), .refused(.late), .newest(over: []), .refused(.late), .newest(over: []),
                ])
    }

    @Test func doubtsAreForgottenWhenTheNumbersGoOn() {
        #expect(
            Self.fates([(0, 900), (30, 1), (1, 901), (31, 2)])
                == [.newest(over: []), .refused(.late), .newest(over: []), .refused(.late)])
    }

    @Test func timesWithinTheToleranceContradictNoNumber() {
        let rows: [(Double, Double, Fate)] = [
            (5, 20, .refused(.late)), (5.001, 20, .newest(over: [1])), (5.001, 5, .refused(.late)),
            (5.001, 5.001, .newest(over: [1])),
        ]
        for (first, second, fate) in rows {
            #expect(Self.fates([(0, 900), (first, 1), (second, 2)]).last == fate, "\(first), \(second)")
        }
    }

    /// The lowest number is the first of the new ones.
    @Test func doubtedPatchesThatAreOlderThanTheLowestNumberByMoreThanTheToleranceDoNotCount() {
        for (time, over) in [(14.9, [1] as [UInt64]), (15, [1, 7])] {
            let fates = Self.fates([(0, 900), (time, 7), (20, 1), (21, 8)])
            #expect(fates.last == .newest(over: over), "\(time)")
        }
    }

    /// They were on their way when the provider restarted.
    @Test func patchesFromBeforeANewBeginningAreLateWhateverTheirNumbers() {
        #expect(
            Self.fates([(0, 900), (10, 1), (11, 2), (0, 901), (-5, 950), (12, 3), (13, 903)])
                == [
                    .newest(over: []), .refused(.late), .newest(over: [1]), .refused(.late), .refused(.late),
                    .newest(over: []), .newest(over: []),
                ])
    }

    @Test func sixteenPatchesAreDoubtedAtMostAndTheOldestGoFirst() {
        // The numbers count down, so none follows from another, and their times are close together.
        let patches = (0..<20).map { (10 + Double($0) / 10, UInt64(100 - $0)) as (Double, UInt64?) }
        let fates = Self.fates([(0, 900)] + patches + [(40, 101)])
        #expect(fates.dropFirst().dropLast().allSatisfy { $0 == .refused(.late) })
        #expect(fates.last == .newest(over: Array(81...96)))
    }

    @Test func aPatchThatIsTooLargeIsDoubtedWithoutItsChange() throws {
        for (sizeMax, isKept) in [(ByteCount.bytes(1000), true), (ByteCount.bytes(1), false)] {
            var order = PatchOrder()
            for patch in [Self.patch(0, 900), Self.patch(10, 1, 7)] {
                _ = Self.fate(patch, in: &order, sizeMax: sizeMax)
            }
            let placement = order.placement(of: Self.patch(11, 2), tolerance: .seconds(5), sizeMax: sizeMax)
            guard case .newest(let over) = placement else {
                Issue.record("the numbers go on")
                continue
            }
            let doubted = try #require(over.first)
            #expect(doubted.cause == "p1" && doubted.at == at(10))
            #expect(doubted.change == (isKept ? .patch(["n": 7]) : .nothing))
        }
    }

    @Test func aNumberIsNewerOnlyThanAnother() {
        var order = PatchOrder()
        #expect(order.isNewer(seq: 5) == nil)
        order.take(seq: 5, at: at(0))
        order.take(seq: nil, at: at(1))
        #expect([4, 5, 6, nil].map { order.isNewer(seq: $0) } == [false, false, true, nil])
    }

    @Test func patchOrderIsReadAsItWasWritten() throws {
        let patches =
            [(0, 900), (10, 1), (11, 2), (20, 1), (-5, 950), (21, 2), (22, 3), (23, 4)] as [(Double, UInt64?)]
        for count in 0...patches.count {
            var order = PatchOrder()
            for patch in patches.prefix(count) { _ = Self.fate(Self.patch(patch.0, patch.1), in: &order) }
            var writer = SerialWriter()
            order.write(to: &writer)
            var reader = SerialReader(writer.bytes[...])
            var read = try PatchOrder(reading: &reader)
            #expect(reader.isAtEnd)
            for patch in patches.dropFirst(count) {
                let fates = (
                    Self.fate(Self.patch(patch.0, patch.1), in: &order),
                    Self.fate(Self.patch(patch.0, patch.1), in: &read)
                )
                #expect(fates.0 == fates.1, "after \(count) patches")
            }
        }
    }
}
