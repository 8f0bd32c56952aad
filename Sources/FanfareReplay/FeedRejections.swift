package import FanfareModel

/// Parts of a feed that changed nothing because they could not be read or were rejected.
package struct FeedRejections: Sendable {
    package private(set) var count = 0
    /// The first of them.
    package private(set) var first: [DecisionRecord] = []
    /// Number of rejections that are kept; a broken feed has one for each line.
    private static let firstMax = 10

    package init() {}

    package mutating func note(_ record: DecisionRecord) {
        guard record.outcome == .rejected else { return }
        count += 1
        if first.count < FeedRejections.firstMax { first.append(record) }
    }
}
