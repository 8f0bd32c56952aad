import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

@Suite struct ReplaceableVersionsTests {
    private static func publication(_ topic: TopicNumber, _ id: String = "order/1") -> Publication {
        Publication.test(of: TopicID(id), numbered: topic, kind: .delivery, state: ["n": 1], priority: .conserving)
    }

    private static let first = publication(TopicNumber(place: 3, birth: 7))
    private static let next = publication(TopicNumber(place: 3, birth: 8))
    private static let named = publication(.none)

    @Test func aPlaceIsItsTopicsUntilItHasBeenTaken() {
        for publication in [Self.first, Self.named] {
            var versions = ReplaceableVersions()
            #expect(versions.places(of: publication, from: 0).isEmpty)
            versions.set(.init(immediate: 5, conserving: 9), of: publication)
            #expect(versions.places(of: publication, from: 5) == .init(immediate: 5, conserving: 9))
            #expect(versions.places(of: publication, from: 6) == .init(immediate: nil, conserving: 9))
            #expect(versions.places(of: publication, from: 10).isEmpty)
        }
    }

    /// The core reuses the place of a forgotten topic for another one.
    @Test func topicNumberBelongsToOneTopic() {
        var versions = ReplaceableVersions()
        versions.set(.init(immediate: 5), of: Self.first)
        #expect(versions.places(of: Self.next, from: 0).isEmpty)
        versions.set(.init(immediate: 6), of: Self.next)
        #expect(versions.places(of: Self.first, from: 0).isEmpty)
        #expect(versions.places(of: Self.next, from: 0).immediate == 6)
    }

    @Test func placesMoveWithTheQueue() {
        for publication in [Self.first, Self.named] {
            var versions = ReplaceableVersions()
            versions.set(.init(immediate: 5, conserving: 9), of: publication)
            versions.move { $0 == 9 ? 6 : nil }
            #expect(versions.places(of: publication, from: 0) == .init(immediate: nil, conserving: 6))
        }
    }

    @Test func namesAreKeptNoLongerThanTheyStandThere() {
        var versions = ReplaceableVersions()
        versions.set(.init(immediate: 5), of: Self.named)
        versions.set(.init(), of: Self.named)
        #expect(versions.namesKept == 0)
        versions.set(.init(immediate: 5), of: Self.named)
        versions.move { _ in nil }
        #expect(versions.namesKept == 0)
        versions.set(.init(immediate: 5), of: Self.named)
        versions.queueIsEmpty()
        #expect(versions.namesKept == 0)
    }

    @Test func aPlaceWithoutAVersionOfItsTopicIsAContradictionUntilItIsStale() {
        for (publication, other) in [(Self.first, Self.next), (Self.named, Self.first)] {
            var versions = ReplaceableVersions()
            versions.set(.init(conserving: 9), of: publication)
            #expect(versions.violation(from: 0) { $0 == 9 ? publication : nil } == nil)
            #expect(versions.violation(from: 0) { _ in nil } != nil)
            #expect(versions.violation(from: 0) { _ in other } != nil)
            #expect(versions.violation(from: 10) { _ in nil } == nil)
            versions.set(.init(immediate: 9), of: publication)
            #expect(versions.violation(from: 0) { _ in publication } != nil, "the version is the other priority's")
        }
    }
}
