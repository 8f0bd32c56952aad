/// Tells people who ended their activities from an operator's mistake. A token of the other environment, or of another app, is
/// answered like a dead one (spec §6.3), so one wrong setting looks like an audience that has died; and what is removed is gone.
///
/// The guard watches the share of dead answers and shuts when it jumps. While it is shut, nothing may be removed.
struct DeadTokenGuard {
    /// Answers before the share says anything. So many tokens at most are removed by mistake.
    let answersMin: Int
    /// About so many answers are remembered: enough that no run of chance shuts it, and so few that a mended setting shows soon.
    let answersMax: Int
    // Both shares are judgement. Cards that people swiped away are found dead by the next push: a few in a hundred while
    // updates are frequent, more after a quiet night. A wrong setting kills all. The lower one keeps it from flapping.
    /// It shuts when more than one in so many is dead,
    static let shutsAboveOneIn = 2
    /// and opens when fewer than one in so many is.
    static let opensBelowOneIn = 4

    enum Change { case shut, opened }

    private(set) var isShut = false
    /// A person has said that the tokens did die: open, whatever the share, until it has fallen once.
    private var isOverruled = false
    private(set) var answers = 0
    private(set) var dead = 0

    /// Other numbers are for simulations, whose worlds are small.
    init(answers: ClosedRange<Int> = 100...1000) {
        answersMin = answers.lowerBound
        answersMax = answers.upperBound
    }

    /// Takes note of answered pushes.
    ///
    /// - Returns: what that has changed.
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
}
