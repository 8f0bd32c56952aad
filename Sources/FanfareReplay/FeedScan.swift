import FanfareFeeds
import FanfareModel

/// One pass over the feed before it is replayed, for its topics and its length.
struct FeedScan {
    /// Topics in order of appearance.
    private(set) var topics: [TopicID] = []
    private(set) var events = 0
    /// Files in the given folders that are not feeds.
    let skippedFiles: [String]

    init(topics: [TopicID], events: Int, skippedFiles: [String] = []) {
        self.topics = topics
        self.events = events
        self.skippedFiles = skippedFiles
    }

    init(_ options: ReplayOptions) throws(FeedError) {
        try Feed.requireRereadable(options.paths)
        let feed = try Feed(paths: options.paths, options: options.feed)
        skippedFiles = feed.skippedFiles
        var seen: Set<TopicID> = []
        while let (now, item) = feed.next() {
            if let until = options.timetable.until, now > until { break }
            if case .noticed = item { continue }
            events += 1
            if case .event(let event) = item, event.topic != .every, seen.insert(event.topic).inserted {
                topics.append(event.topic)
            }
        }
    }
}
