/// What the judge has found: violations, and counts that show what a run has met.
package struct Findings {
    package struct Violation {
        package let text: String
        package let history: [String]
    }

    package private(set) var violations: [Violation] = []
    package private(set) var violationCount = 0
    package var pushes = 0
    package var starts = 0
    /// Starts that left in a later life than that in which they were asked for.
    package var startsAfterRestarts = 0
    /// Starts that a restart has given up, and those of them that had not left.
    package var startsUncertain = 0
    package var startsLost = 0
    package var ends = 0
    package var alerts = 0
    /// Alerts that came again, because a full disk had taken no claims of them.
    package var alertsRepeated = 0
    /// States sent again to those who have them, and the restarts of cards that were there before.
    package var superfluous = 0
    package var restartsOfCards = 0
    package var endsAgain = 0
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

    private static let kept = 20

    package init() {}

    mutating func complain(_ text: String, history: [String] = []) {
        violationCount += 1
        if violations.count < Findings.kept { violations.append(Violation(text: text, history: history)) }
    }
}
