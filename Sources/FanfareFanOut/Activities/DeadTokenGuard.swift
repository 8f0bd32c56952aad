/// Distinguishes people who ended their activities from an operator's mistake. APNs answers for a token of the other environment, or
/// of another app, as for a dead one (spec §6.3), so one wrong setting looks like an audience that has died; and removals are final.
///
/// The guard watches the share of dead answers and shuts when it jumps. While it is shut, nothing may be removed.
struct DeadTokenGuard {
    /// Minimum of answers for a decision. At most this many activities are removed by mistake.
    let answersMin: Int
    /// Approximate maximum of remembered answers: enough that no run of chance shuts the guard, and few enough that a corrected setting
    /// shows soon.
    let answersMax: Int
    // Both shares are judgement. Cards that people swiped away are found dead by the next push: a few in a hundred while
    // updates are frequent, more after a quiet night. A wrong setting kills all. The lower share keeps the guard from flapping.
    /// The guard shuts when more than one in this many is dead.
    static let shutsAboveOneIn = 2
    /// The guard opens when fewer than one in this many is dead.
    static let opensBelowOneIn = 4

    enum Change { case shut, opened }

    private(set) var isShut = false
    /// Is `true` after an operator has confirmed that the tokens did die; the guard then stays open until the share has fallen once.
    private var isOverruled = false
    private(set) var answers = 0
    private(set) var dead = 0

    /// - Parameter answers: bounds on the remembered answers; other numbers are for simulations, whose worlds are small.
    init(answers: ClosedRange<Int> = 100...1000) {
        answersMin = answers.lowerBound
        answersMax = answers.upperBound
    }

    /// Records answered pushes.
    ///
    /// - Returns: the change of the guard, if there is one.
    mutating func note(answers count: Int, dead deadCount: Int) -> Change? {
        answers += count
        dead += deadCount
        while answers > answersMax {
            answers /= 2
            dead /= 2
        }
        guard answers >= answersMin else { return nil }
        let isHigh = dead * DeadTokenGuard.shutsAboveOneIn > answers
        let isLow = dead * DeadTokenGuard.opensBelowOneIn < answers
        if isOverruled {
            isOverruled = !isLow
        } else if !isShut, isHigh {
            isShut = true
            return .shut
        } else if isShut, isLow {
            isShut = false
            return .opened
        }
        return nil
    }

    mutating func overrule() {
        isShut = false
        isOverruled = true
    }

    /// Describes more dead answers than answers, more answers than are remembered, or a guard that is shut against an operator's word; `nil` if there
    /// are none.
    func violation() -> String? {
        guard (0...max(0, answers)).contains(dead), answers <= answersMax else {
            return "\(dead) of \(answers) answers are dead, and at most \(answersMax) are remembered"
        }
        return isShut && isOverruled ? "the guard is shut, and an operator has opened it" : nil
    }
}
