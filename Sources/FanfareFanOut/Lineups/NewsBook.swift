/// Numbers of news and of alerts over all topics of a `LineupTable`.
struct NewsBook {
    var newest = NewsNumber()
    /// Number of news that some lineup has not looked at.
    var open = 0
    /// Number of topics' kept alerts by their words.
    var words: [UInt64: Int] = [:]

    mutating func forgetWords(of alert: IssuedAlert) {
        guard let count = words[alert.words] else { return }
        words[alert.words] = count > 1 ? count - 1 : nil
    }
}
