import FanfareModel
import FanfareQueues

/// The outcomes of the last eight alerts of each class, for each activity: eight bytes per activity, allocated with the first
/// question.
struct AlertMemory {
    private var codes = GrowingColumn<UInt64>()

    /// Starts to keep outcomes; those of earlier alerts are unknown.
    mutating func begin(_ count: Int) {
        if codes.isEmpty { codes.append(repeating: .max, count: count) }
    }

    var isKept: Bool { !codes.isEmpty }

    /// Describes a number of rows that differs from the number of slots; `nil` if they are equal.
    func violation(slots: Int) -> String? {
        isKept && codes.count != slots ? "the outcomes of alerts are kept for \(codes.count) of \(slots) slots" : nil
    }

    /// Clears the outcomes of a slot, whose new activity has missed nothing yet.
    mutating func forget(_ slot: ActivitySlot) {
        guard isKept else { return }
        while codes.count <= Int(slot.rawValue) { codes.append(0) }
        codes[Int(slot.rawValue)] = 0
    }

    /// Notes the outcomes of alerts that all these activities had missed, if outcomes are kept.
    mutating func note(_ outcomes: [(number: UInt32, outcome: AlertOutcome)], of slots: some Sequence<ActivitySlot>) {
        guard isKept else { return }
        for slot in slots {
            for (number, outcome) in outcomes { note(outcome, number: number, of: slot) }
        }
    }

    /// - Parameter number: the alert's number in its audience.
    mutating func note(_ outcome: AlertOutcome, number: UInt32, of slot: ActivitySlot) {
        codes[Int(slot.rawValue)][bits: AlertMemory.bits(of: number)] = outcome.code
    }

    func outcome(number: UInt32, of slot: ActivitySlot) -> AlertOutcome {
        AlertOutcome(code: codes[Int(slot.rawValue)][bits: AlertMemory.bits(of: number)])
    }

    private static func bits(of number: UInt32) -> Range<Int> {
        let start = Int(number % 16 * 4)
        return start..<start + 4
    }
}

extension AlertOutcome {
    /// The outcome in four bits.
    fileprivate var code: UInt64 {
        switch self {
        case .cameLater: 0
        case .accepted: 1
        case .uncertain: 2
        case .superseded: 3
        case .revoked: 4
        case .stale: 5
        case .refused: 6
        case .silenced(let silence): 6 + UInt64(silence.rawValue)
        }
    }

    /// - Parameter code: 0…15; 15 for an alert that came before outcomes were kept.
    fileprivate init(code: UInt64) {
        switch code {
        case 0: self = .cameLater
        case 1: self = .accepted
        case 3: self = .superseded
        case 4: self = .revoked
        case 5: self = .stale
        case 6: self = .refused
        case 7...: self = Silence(rawValue: UInt8(code - 6)).map { .silenced($0) } ?? .uncertain
        default: self = .uncertain
        }
    }
}
