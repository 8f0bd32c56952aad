/// News that some lineup of their topic had not looked at, as of one moment.
struct UnvisitedNews {
    private var topics: [TopicLineups]
    private let newest: NewsNumber

    /// - Parameters:
    ///   - topics: all topics with such news.
    ///   - newest: number of the newest news.
    init(topics: [TopicLineups], newest: NewsNumber) {
        self.topics = topics
        self.newest = newest
    }

    /// Returns whether all those news have been looked at. A call examines only topics whose news were looked at since the last call, and one more
    /// topic.
    mutating func isEmpty() -> Bool {
        while let last = topics.last {
            if let oldest = last.news.first, oldest.number <= newest { return false }
            topics.removeLast()
        }
        return true
    }
}
