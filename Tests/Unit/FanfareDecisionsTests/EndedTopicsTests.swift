import FanfareModel
import Testing

@testable import FanfareDecisions

@Suite struct EndedTopicsTests {
    private static func end(_ birth: UInt64, place: UInt32 = 0, version: UInt32 = 1) -> EndedTopics.Entry {
        EndedTopics.Entry(birth: birth, place: place, version: version)
    }

    @Test func theTopicThatEndedLongestAgoIsTheFirstWheneverItWasBorn() {
        var ended = EndedTopics()
        #expect(ended.first == nil && ended.count == 0)
        for birth: UInt64 in [5, 3, 9] { ended.append(Self.end(birth)) }
        #expect(ended.first?.birth == 5 && ended.count == 3, "a look takes nothing")
        let taken = (0..<4).map { _ in ended.popFirst()?.birth }
        #expect(taken == [5, 3, 9, nil] && ended.count == 0)
    }

    /// A topic that begins again and ends once more has two entries, of which the earlier is stale.
    @Test func twoEndsOfOneTopicAreToldApartByTheirVersions() {
        var ended = EndedTopics()
        ended.append(Self.end(7, place: 4, version: 2))
        ended.append(Self.end(7, place: 4, version: 6))
        #expect(ended.violation() == nil)
        var repeated = ended
        repeated.append(Self.end(7, place: 4, version: 6))
        #expect(repeated.violation() != nil)
        let ends = [ended.popFirst(), ended.popFirst()]
        #expect(ends.map { $0?.birth } == [7, 7] && ends.map { $0?.place } == [4, 4])
        #expect(ends.map { $0?.version } == [2, 6])
    }

    @Test func rememberedTopicsAreCountedByTheOwnerAndStaleEntriesAreNot() {
        var ended = EndedTopics()
        for birth in UInt64(1)...3 { ended.append(Self.end(birth)) }
        ended.remembered = 2
        _ = ended.popFirst()
        #expect(ended.count == 2 && ended.remembered == 2 && ended.violation() == nil)
        ended.keep { _ in false }
        #expect(ended.count == 0 && ended.remembered == 2 && ended.first == nil)
        #expect(ended.violation() != nil, "each remembered topic has an entry")
    }

    @Test func keptEndsStayInTheirOrderAndTakenOnesDoNotComeBack() {
        var ended = EndedTopics()
        for birth in UInt64(1)...10 { ended.append(Self.end(birth)) }
        for _ in 0..<3 { _ = ended.popFirst() }
        ended.keep { $0.birth % 2 == 0 }
        #expect(ended.count == 4)
        ended.append(Self.end(11))
        let rest = (0..<6).map { _ in ended.popFirst()?.birth }
        #expect(rest == [4, 6, 8, 10, 11, nil])
    }

    /// An array is the model; the queue becomes long, so that consumed entries are compacted meanwhile.
    @Test(arguments: 0..<10 as Range<UInt64>) func endsAgreeWithAnArray(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var ended = EndedTopics()
        var births: [UInt64] = []
        for step in 0..<10_000 {
            switch random.number(below: 1000) {
            // The queue grows at first, and shrinks later.
            case 0..<(step < 5000 ? 700 : 300):
                ended.append(Self.end(UInt64(step)))
                births.append(UInt64(step))
            case 999:
                ended.keep { $0.birth % 3 != 0 }
                births.removeAll { $0 % 3 == 0 }
            default:
                let taken = ended.popFirst()?.birth
                let expected = births.isEmpty ? nil : births.removeFirst()
                #expect(taken == expected, "seed \(seed), step \(step)")
            }
            ended.remembered = births.count
            guard ended.count == births.count, ended.first?.birth == births.first,
                step % 500 > 0 || ended.violation() == nil
            else {
                Issue.record("seed \(seed), step \(step): \(ended.count) ends, not \(births.count)")
                return
            }
        }
    }
}
