/// Findings of the judge: violations, and counts that show what a run has met.
package struct Findings {
    package struct Violation {
        package let text: String
        package let history: [String]
    }

    package private(set) var violations: [Violation] = []
    package private(set) var violationCount = 0
    /// Counts of the cards' pushes, added up.
    package var cards = CardCounts()
    /// Starts that left in a later life than that in which they were asked for.
    package var startsAfterRestarts = 0
    /// Starts that a restart has given up, and those of them that had not left.
    package var startsUncertain = 0
    package var startsLost = 0
    /// Followers who lack the newest alert of their topic because of a kill; those who were certain to get it.
    package var alertsLost = 0
    package var alertsAtKills = 0
    package var alertsLostAtOnce = 0
    /// Followers whose app was away when the newest alert of their topic in that life was acknowledged; those who got it when the app was back.
    package var alertsOfAbsences = 0
    package var alertsAfterAbsences = 0
    package var checkedCards = 0
    package var checkedAtSettlements = 0
    /// Those of cards whose newest change was acknowledged in a life that lacked their app.
    package var checkedAfterAbsences = 0

    /// Number of kept violations by kind: their words without what names a card, a life or a number. Many of one kind would hide the others.
    private var kinds: [String: Int] = [:]
    private static let keptOfKind = 5

    package init() {}

    mutating func complain(_ text: String, history: [String] = []) {
        violationCount += 1
        let kind = String((text.split(separator: ": ").last ?? "").filter { !$0.isNumber })
        guard kinds[kind, default: 0] < Findings.keptOfKind else { return }
        kinds[kind, default: 0] += 1
        violations.append(Violation(text: text, history: history))
    }
}
