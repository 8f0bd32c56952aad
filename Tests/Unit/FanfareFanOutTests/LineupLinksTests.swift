import FanfareModel
import FanfareQueues
import Testing

@testable import FanfareFanOut

@Suite struct LineupLinksTests {
    private static func elements<Element: BitwiseCopyable>(_ column: GrowingColumn<Element>) -> [Element] {
        column.indices.map { column[$0] }
    }

    @Test func aLineupHasALinkForEachTopicOneBehindTheOther() {
        var links = LineupLinks()
        let first = links.take([4, 5], row: 0)
        let second = links.take([5, 6, 7], row: 1)
        #expect(first == 0 && second == 2)
        #expect(Self.elements(links.rows) == [0, 0, 1, 1, 1] && Self.elements(links.topics) == [4, 5, 5, 6, 7])
        #expect(links.places.count == 5 && Self.elements(links.isInSpotlight) == [false, false, false, false, false])
    }

    @Test func theLinksOfARemovedLineupServeOneWithAsManyTopics() {
        var links = LineupLinks()
        _ = links.take([4, 5], row: 0)
        links.setSpotlight(1, in: 0..<2)
        links.takeBack(0..<2)
        let other = links.take([1, 2, 3], row: 0)
        let same = links.take([8, 9], row: 1)
        #expect(other == 2 && same == 0)
        #expect(Self.elements(links.topics) == [8, 9, 1, 2, 3] && Self.elements(links.rows) == [1, 1, 0, 0, 0])
        #expect(!Self.elements(links.isInSpotlight).contains(true))
    }

    @Test func aLineupHasOneSpotlight() {
        var links = LineupLinks()
        _ = links.take([4, 5], row: 0)
        _ = links.take([4, 5, 6], row: 1)
        links.setSpotlight(0, in: 0..<2)
        links.setSpotlight(0, in: 2..<5)
        links.setSpotlight(2, in: 2..<5)
        #expect(Self.elements(links.isInSpotlight) == [true, false, false, false, true])
    }

    @Test func theTopicsOfALineupStayWhatTheyAreWhileOthersCome() {
        var links = LineupLinks()
        _ = links.take([4, 5], row: 0)
        let topics = LinkedTopics(topics: links.topics, links: 0..<2)
        links.takeBack(0..<2)
        _ = links.take([6, 7], row: 1)
        let others = LinkedTopics(topics: links.topics, links: 1..<2)
        #expect(Array(topics) == [4, 5] && Array(others) == [7])
    }

    @Test(arguments: 0..<20 as Range<UInt64>) func eachLinkIsOneLineupsOrFreeWhateverHasComeAndGone(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var links = LineupLinks()
        var held: [Range<Int>] = []
        for step in 0..<500 {
            if held.isEmpty || Int.random(in: 0..<5, using: &random) < 3 {
                let topics = (1...Int.random(in: 1...5, using: &random)).map { TopicIndex($0) }
                let first = Int(links.take(topics, row: step))
                held.append(first..<first + topics.count)
            } else {
                links.takeBack(held.remove(at: Int.random(in: held.indices, using: &random)))
            }
            let violation = links.violation(held: held)
            #expect(violation == nil, "seed \(seed), step \(step)")
        }
    }

    @Test func aLinkThatTwoLineupsHaveOrNoneIsAViolation() {
        var links = LineupLinks()
        _ = links.take([4, 5], row: 0)
        links.takeBack(0..<2)
        _ = links.take([1, 2, 3], row: 0)
        let held: [[Range<Int>]] = [[2..<5], [], [2..<5, 4..<5], [1..<5], [2..<6]]
        let areViolations = held.map { links.violation(held: $0) != nil }
        #expect(areViolations == [false, true, true, true, true])
    }
}
