import FanfareModel

/// The moment at which a round's program is to be killed.
enum Aim: String, CaseIterable {
    case commit, checkpoint, recall, loading, sweep, start
    /// Whenever it is.
    case anywhere

    var phases: [Phase] {
        switch self {
        case .commit: [.entries, .people, .claims]
        case .checkpoint: [.checkpoint]
        case .recall: [.recall]
        case .loading: [.loading]
        case .sweep: [.sweep]
        case .start: [.start]
        case .anywhere: []
        }
    }

    /// A program that is killed before it takes requests is started once more in the same round.
    var isEarly: Bool { self == .recall || self == .loading }

    static func drawn(_ random: inout SplitMix64) -> (early: Aim?, late: Aim) {
        let early: Aim? =
            switch Double.random(in: 0..<1, using: &random) {
            case ..<0.18: .loading
            case ..<0.26: .recall
            default: nil
            }
        let late: Aim =
            switch Double.random(in: 0..<1, using: &random) {
            case ..<0.22: .commit
            case ..<0.46: .sweep
            case ..<0.70: .start
            case ..<0.80: .checkpoint
            default: .anywhere
            }
        return (early, late)
    }
}
