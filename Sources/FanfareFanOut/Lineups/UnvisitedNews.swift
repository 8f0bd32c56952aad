import FanfareModel

/// News that some lineup of their topic had not looked at, as of one moment.
struct UnvisitedNews {
    private var topics: [TopicIndex]
    private let newest: NewsNumber

    /// - Parameters:
    ///   - topics: all topics with such news.
    ///   - newest: number of the newest news.
    init(topics: [TopicIndex], newest: NewsNumber) {
        self.topics = topics
        self.newest = newest
    }

    /// Returns whether all those news have been looked at. A call examines only topics whose news were looked at since the last call, and one more
    /// topic.
    ///
    /// - Parameter hasNews: returns whether a topic has news up to a number that some of its lineups have not looked at. Later news have greater
    ///   numbers, also those of another topic that has got the place of one that is gone.
    mutating func isEmpty(_ hasNews: (TopicIndex, NewsNumber) -> Bool) -> Bool {
        while let last = topics.last {
            if hasNews(last, newest) { return false }
            topics.removeLast()
        }
        return true
    }
}
