import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

/// A shard finds a published topic by the core's number, and a followed one by its name.
@Suite struct KnownTopicsTests {
    private var topics = KnownTopics(unpublishedMax: 1000)
    private let moment = Moment(wallMilliseconds: 0, monotonicNanoseconds: 0)

    private mutating func publish(_ id: String, _ place: UInt32, _ birth: UInt64) -> TopicIndex {
        let publication = Publication.test(
            birth, of: TopicID(id), numbered: TopicNumber(place: place, birth: birth), kind: .delivery, version: 1,
            state: ["n": 1], priority: .conserving)
        let index = topics.insert(topicOf: publication)
        topics.take(publication, of: index, at: moment)
        return index
    }

    @Test mutating func aTopicThatIsFollowedFirstIsTheOneThatIsPublished() {
        let followed = topics.insert(TopicID("order/1"))
        topics[followed].followers = 0
        #expect(publish("order/1", 4, 9) == followed)
        #expect(publish("order/1", 4, 9) == followed)
        #expect(topics.violation() == nil)
    }

    /// One character or two: the core takes them for two topics, too.
    @Test mutating func idsThatLookAlikeAreTwoTopics() {
        let composed = publish("match/caf\u{E9}", 1, 1)
        let decomposed = publish("match/cafe\u{301}", 2, 2)
        #expect(composed != decomposed && topics.count == 2)
        #expect(topics.index(of: TopicID("match/caf\u{E9}")) == composed)
        #expect(topics.violation() == nil)
    }

    @Test mutating func aPlaceIsAnotherTopicsWhenTheFirstIsForgotten() {
        let first = publish("order/1", 4, 9)
        topics[first].followers = 0
        topics.forget(TopicID("order/1"))
        let second = publish("order/2", 4, 10)
        #expect(second != first && topics[second].id == TopicID("order/2"))
        // The topic begins again under another number of the core, and is the same one for its followers.
        #expect(publish("order/1", 5, 11) == first)
        #expect(publish("order/2", 4, 10) == second)
        #expect(topics.violation() == nil)
    }

    @Test mutating func forgottenTopicWithoutFollowersIsFoundByNoNumber() {
        let first = publish("order/1", 4, 9)
        topics.forget(TopicID("order/1"))
        #expect(publish("order/2", 5, 10) == first, "its row is free")
        #expect(publish("order/3", 4, 11) != first)
        #expect(publish("order/2", 5, 10) == first)
        #expect(topics.violation() == nil)
    }

    @Test mutating func aTopicIsGoneAtItsDateOfTheWallClock() {
        let publication = Publication.test(
            of: TopicID("table/1"), kind: .generic, event: .end, dismissal: .at(FeedTime(seconds: 600)))
        let index = topics.insert(topicOf: publication)
        topics.take(publication, of: index, at: Moment(wallMilliseconds: 60_000, monotonicNanoseconds: 5))
        let goneAt = topics[index].goneAt
        #expect(goneAt == MonotonicTime(nanoseconds: 5) + .seconds(540))
    }

    /// The followers of the earlier topic with this id keep it, without a name and a number.
    @Test mutating func theNumberStaysWithTheName() {
        let index = publish("table/1", 4, 9)
        topics[index].followers = 0
        let old = topics.detach(index)
        #expect(publish("table/1", 4, 9) == index && index != old)
        #expect(topics.violation() == nil)
    }

    /// Far more topics than a segment of the rows, or of the names, has.
    @Test func manyTopicsAreFoundByTheirNames() {
        var known = KnownTopics(unpublishedMax: 10_000)
        let ids = (0..<10_000).map { TopicID("order/\($0)") }
        let indices = ids.map { known.insert($0) }
        for index in indices { known[index].followers = AudienceIndex(index.place) }
        for place in stride(from: 0, to: 10_000, by: 3) {
            known[indices[place]].followers = nil
            known.release(indices[place])
        }
        let wrong = ids.indices.first { known.index(of: ids[$0]) != ($0 % 3 == 0 ? nil : indices[$0]) }
        #expect(wrong == nil && known.count == 6666 && known.unpublished == 6666)
        let again = known.insert(ids[0])
        known[again].followers = 0
        #expect(known.index(of: ids[0]) == again && known.capacity == 10_000 && known.violation() == nil)
    }

    @Test func audienceOfTooManyUnpublishedTopicsIsRefused() {
        var known = KnownTopics(unpublishedMax: 2)
        let (match, another, third) = (TopicID("match"), TopicID("another"), TopicID("third"))
        _ = known.insert(match)
        #expect(known.refusal(of: .topic(another)) == nil)
        _ = known.insert(another)
        #expect(known.refusal(of: .topic(third)) == .tooManyTopics)
        #expect(known.refusal(of: .topic(match)) == nil)
        #expect(known.refusal(of: .lineup([match, third])) == .tooManyTopics)
        #expect(known.refusal(of: .lineup([match, another])) == nil)
    }

    @Test func audienceWithoutValidTopicsIsRefused() {
        let match = TopicID("match")
        #expect(topics.refusal(of: .topic(TopicID(""))) == .topic)
        #expect(topics.refusal(of: .lineup([match, TopicID("")])) == .topic)
        #expect(topics.refusal(of: .lineup([])) == .lineup)
        #expect(topics.refusal(of: .lineup([match, match])) == .lineup)
    }

    /// A feed by names, by numbers, and by both in turn: each topic has one row.
    @Test(arguments: UInt64(1)...20) mutating func topicNumbersFindWhatTopicNamesFind(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var numbers: [Int: TopicNumber] = [:]
        var free: [UInt32] = Array(0..<30)
        var birth: UInt64 = 0
        for _ in 0..<5000 {
            let topic = Int.random(in: 0..<30, using: &random)
            let id = TopicID("t/\(topic)")
            if random.next() % 6 == 0 {
                topics.forget(id)
                if let number = numbers.removeValue(forKey: topic) { free.append(number.place) }
            } else if random.next() % 4 == 0 {
                let index = topics.insert(id)
                topics[index].followers = random.next() % 2 == 0 ? AudienceIndex(topic) : nil
                topics.release(index)
            } else {
                if numbers[topic] == nil {
                    birth += 1
                    free.shuffle(using: &random)
                    numbers[topic] = TopicNumber(place: free.removeLast(), birth: birth)
                }
                let number = numbers[topic]!
                let named = topics.index(of: id)
                let index = publish(id.rawValue, number.place, number.birth)
                #expect(named == nil || named == index, "seed \(seed)")
                #expect(topics[index].id == id, "seed \(seed)")
            }
            let violation = topics.violation()
            #expect(violation == nil, "seed \(seed)")
        }
    }
}
