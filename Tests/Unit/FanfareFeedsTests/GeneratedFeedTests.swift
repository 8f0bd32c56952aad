import FanfareDecisions
import FanfareModel
import Testing

@testable import FanfareFeeds

@Suite struct GeneratedFeedTests {
    private func bytes(_ feed: GeneratedFeed, seed: UInt64) -> [UInt8] {
        var bytes: [UInt8] = []
        feed.write(seed: seed) { bytes += $0 }
        return bytes
    }

    private func events(_ feed: GeneratedFeed, seed: UInt64) throws -> [FeedEvent] {
        var decoder = NativeLineDecoder(name: "made", lineSizeMax: .mebibytes(1))
        var items: [FeedItem] = []
        decoder.decode(bytes(feed, seed: seed), into: &items)
        decoder.finish(into: &items)
        return try items.map { item in
            guard case .event(let event) = item else { throw Unreadable(item: item) }
            return event
        }
    }

    private struct Unreadable: Error { let item: FeedItem }

    @Test(arguments: GeneratedFeed.allCases) func theSameSeedGivesTheSameBytes(feed: GeneratedFeed) {
        #expect(bytes(feed, seed: 5) == bytes(feed, seed: 5))
        #expect(bytes(feed, seed: 5) != bytes(feed, seed: 6))
    }

    /// Every topic of the made feeds starts, ends, and is worth what the rules ask for.
    @Test(arguments: [(GeneratedFeed.delivery, TopicKind.delivery), (.ride, .ride), (.queue, .queue)])
    func topicsRunTheirCourse(feed: GeneratedFeed, kind: TopicKind) throws {
        for seed in UInt64(1)...3 {
            var core = DecisionCore(isLive: false)
            var decisions: [Decision] = []
            let events = try events(feed, seed: seed)
            var now = events[0].at
            for event in events {
                now = max(now, event.at)
                core.apply(event, now: now, into: &decisions)
            }
            core.finish(into: &decisions)
            #expect(core.topicCount >= 20)
            var late = 0
            for case .record(let record) in decisions {
                #expect(record.outcome != .rejected, "seed \(seed): \(record.reason)")
                if record.outcome == .late { late += 1 }
            }
            #expect(late > 0, "seed \(seed): a real feed is late now and then")
            for topic in core.topics {
                #expect(topic.kind == kind)
                // A first place in an empty queue may be called before anything was shown.
                #expect(topic.ended || topic.version == 0, "seed \(seed), \(topic.id)")
            }
            let publications = decisions.compactMap { if case .publish(let it) = $0 { it } else { nil } }
            #expect(publications.contains { $0.alert?.class == .essential }, "seed \(seed)")
            #expect(publications.count * 2 < events.count, "seed \(seed): most events are nothing to see")
        }
    }

    @Test func ordersAreATownsEvening() throws {
        let topics = Set(try events(.orders, seed: 1).map(\.topic))
        #expect(topics.count == 1000)
    }
}
