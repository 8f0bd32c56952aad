/// The outcome of a push as the figures have it: it depends also on what the shard does about an answer.
enum CountedOutcome {
    case accepted, dead, held, throttled, refused, uncertain, notProcessed
}

extension PushCounts {
    /// Adds a push with this outcome.
    mutating func add(_ outcome: CountedOutcome) {
        switch outcome {
        case .accepted: accepted += 1
        case .dead: dead += 1
        case .held: held += 1
        case .throttled: throttled += 1
        case .refused: refused += 1
        case .uncertain: uncertain += 1
        case .notProcessed: notProcessed += 1
        }
    }
}
