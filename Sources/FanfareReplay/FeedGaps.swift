import FanfareFeeds
import FanfareModel

/// Parts of a story that are unknown: unreadable parts of the feed that may have been of any topic, and the decoders' doubts.
package struct FeedGaps: Sendable, Equatable {
    /// Number of rejections, with those of a known topic.
    package private(set) var rejections = 0
    /// Number of rejections without a topic.
    package private(set) var ofAnyTopic = 0
    /// The first rejection without a topic, in one line for people.
    package private(set) var first: String?
    package private(set) var notices: [String] = []
    /// Number of notices that are kept; a decoder tells each only once.
    private static let noticesMax = 10

    mutating func note(_ rejection: FeedRejection) {
        rejections += 1
        guard rejection.topic == nil else { return }
        ofAnyTopic += 1
        first = first ?? "\(rejection)"
    }

    mutating func note(_ notice: FeedNotice) {
        if notices.count < FeedGaps.noticesMax { notices.append("\(notice)") }
    }
}
