import FanfareDecisions

/// Final states of a replay's topics; includes topics forgotten during the replay if requested.
struct TopicStates {
    private let keepsForgotten: Bool
    private var forgotten: [(birth: UInt64, line: [UInt8])] = []

    init(keepsForgotten: Bool) { self.keepsForgotten = keepsForgotten }

    mutating func note(forgotten topic: TopicView) {
        if keepsForgotten { forgotten.append((topic.birth, topic.line)) }
    }

    /// - Parameter remembered: topics that were not forgotten.
    /// - Returns: an NDJSON line per topic, in order of appearance.
    func lines(with remembered: some Sequence<TopicView>) -> [[UInt8]] {
        (forgotten + remembered.map { ($0.birth, $0.line) }).sorted { $0.birth < $1.birth }.map(\.line)
    }
}

extension TopicView {
    fileprivate var line: [UInt8] {
        var line: [UInt8] = []
        write(to: &line)
        return line
    }
}
