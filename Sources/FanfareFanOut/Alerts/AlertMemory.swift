import FanfareModel

/// The outcome of an alert, in four bits.
struct AlertOutcome: Equatable {
    let code: UInt32

    static let cameLater = AlertOutcome(code: 0)
    static let accepted = AlertOutcome(code: 1)
    static let uncertain = AlertOutcome(code: 2)
    static let superseded = AlertOutcome(code: 3)
    static let revoked = AlertOutcome(code: 4)
    static let stale = AlertOutcome(code: 5)
    static let refused = AlertOutcome(code: 6)
    static func silenced(_ silence: Silence) -> AlertOutcome { AlertOutcome(code: 6 + UInt32(silence.rawValue)) }
    static let codeMax: UInt32 = 15

    var silence: Silence? { code > 6 ? Silence(rawValue: UInt8(code - 6)) : nil }

    var disposition: AlertDisposition {
        switch self {
        case .cameLater: .silenced(.cameLater)
        case .accepted: .accepted
        case .superseded: .silenced(.superseded)
        case .revoked: .silenced(.revoked)
        case .stale: .silenced(.stale)
        case .refused: .silenced(.refused)
        default:
            silence.map { .silenced(.preferences($0)) } ?? .uncertain
        }
    }
}

/// The outcomes of the last eight alerts of each class, for each activity: eight bytes per activity, allocated with the first
/// question.
struct AlertMemory {
    private var codes: [UInt64] = []

    /// Starts to keep outcomes; those of earlier alerts are unknown.
    mutating func begin(_ count: Int) {
        if codes.isEmpty { codes = Array(repeating: .max, count: count) }
    }

    var isKept: Bool { !codes.isEmpty }

    /// Describes a number of rows that is not that of the slots; `nil` if it is.
    func violation(slots: Int) -> String? {
        isKept && codes.count != slots ? "the outcomes of alerts are kept for \(codes.count) of \(slots) slots" : nil
    }

    /// Clears the outcomes of a slot, whose new activity has missed nothing yet.
    mutating func forget(_ slot: ActivitySlot) {
        guard isKept else { return }
        while codes.count <= Int(slot.rawValue) { codes.append(0) }
        codes[Int(slot.rawValue)] = 0
    }

    /// - Parameter number: the alert's number in its audience.
    mutating func note(_ outcome: AlertOutcome, number: UInt32, of slot: ActivitySlot) {
        let shift = UInt64(number % 16 * 4)
        let kept = codes[Int(slot.rawValue)] & ~(UInt64(AlertOutcome.codeMax) << shift)
        codes[Int(slot.rawValue)] = kept | UInt64(outcome.code) << shift
    }

    func outcome(number: UInt32, of slot: ActivitySlot) -> AlertOutcome {
        let shift = UInt64(number % 16 * 4)
        return AlertOutcome(
            code: UInt32(truncatingIfNeeded: codes[Int(slot.rawValue)] >> shift) & AlertOutcome.codeMax)
    }
}
