/// Numbers of news and of alerts over all topics of a `LineupTable`.
struct NewsBook {
    var newest = NewsNumber()
    /// Number of news that some lineup has not looked at.
    var count = 0
    /// Number of topics' kept alerts by content hash.
    var alertCounts: [UInt64: Int] = [:]

    mutating func remove(_ alert: IssuedAlert) {
        guard let count = alertCounts[alert.contentHash] else { return }
        alertCounts[alert.contentHash] = count > 1 ? count - 1 : nil
    }
}
