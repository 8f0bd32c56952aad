import FanfareModel

/// The moment at which a round's program is to be killed.
enum Aim: String, CaseIterable {
    case commit, checkpoint, recall, loading, sweep, start
    /// Whenever it is.
    case anywhere

    /// Rounds after which each fixed aim was taken. What a run does in every third round, and in every fourth, has happened by then, too.
    static let period = 12

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

    /// Draws the aims of a round before and after its program takes requests.
    ///
    /// - Parameter place: place of the round in the periods of its run. Some aims of each period are fixed, so that thirty rounds nearly always meet
    ///   each phase that `--least` asks for: not each kill meets its aim, and one run in 300 would draw none at a loading.
    static func drawn(_ random: inout SplitMix64, place: Int) -> (early: Aim?, late: Aim) {
        let aims = Aim.drawn(&random)
        // In places that four divides, kills wait for full disks.
        return switch place % Aim.period {
        case 1: (aims.early, .commit)
        case 5: (.loading, .sweep)
        case 9: (aims.early, .start)
        case 11: (.loading, aims.late)
        default: aims
        }
    }

    private static func drawn(_ random: inout SplitMix64) -> (early: Aim?, late: Aim) {
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

/// Kills that have missed their aims: a phase did not come while it was waited for, or was over when the kill came.
struct AimMisses {
    private var counts: [Aim: Int] = [:]

    /// Notes a kill.
    ///
    /// - Parameter phases: those in which it has found the program.
    mutating func note(_ aim: Aim, metIn phases: [Phase]) {
        guard aim != .anywhere, !aim.phases.contains(where: phases.contains) else { return }
        counts[aim, default: 0] += 1
    }

    var text: String {
        let aims = Aim.allCases.compactMap { aim in counts[aim].map { "\($0) \(aim.rawValue)" } }
        let details = aims.isEmpty ? "" : ": \(aims.joined(separator: ", "))"
        return "\(counts.values.reduce(0, +)) kills missed the phase that they were to meet\(details)"
    }
}
