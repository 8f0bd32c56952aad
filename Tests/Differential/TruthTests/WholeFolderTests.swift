import FanfareFeeds
import FanfareModel
import Testing

@Suite(.enabled(if: Recordings.areHere, "\(Recordings.skipped)"))
struct WholeFolderTests {
    /// Everything at once: five formats recognised by content, in the order of log time.
    @Test func allRecordingsAreOneFeed() throws {
        let feed = try Feed(paths: [Recordings.path("")])
        var now = FeedTime(milliseconds: 0)
        var kinds: [TopicKind: Set<TopicID>] = [:]
        var ends = 0
        while let next = feed.next() {
            #expect(next.now >= now)
            now = next.now
            guard case .event(let event) = next.item else {
                Issue.record("rejected: \(next.item)")
                continue
            }
            #expect(event.at <= now)
            if let kind = event.topicKind { kinds[kind, default: []].insert(event.topic) }
            if event.lifecycle == .end { ends += 1 }
        }
        #expect(kinds[.football]?.count == 13)
        #expect(kinds[.transit]?.count == 240)
        #expect(kinds[.hockey]?.count == 6)
        #expect(kinds[.volleyball]?.count == 3)
        #expect(ends == 13 + 6 + 3)
        // Notes are skipped; what stands beside a feed is not among them.
        #expect(feed.skippedFiles.contains { $0.hasSuffix("README.md") })
        #expect(
            !feed.skippedFiles.contains {
                $0.contains("metadata") || $0.contains("gtfs-static") || $0.contains("facts")
            })
        #expect(!feed.skippedFiles.contains { $0.hasSuffix("sportec_meta_J03WPY.xml") })
    }
}
