import FanfareCore

/// The dead-token guard as operators are told of it: when more than half of the answers of late speak of dead tokens, nobody is
/// removed any more; whoever would have been is held, and tried again together with all others held, ten seconds after the first.
/// When it is fewer than a quarter, or when told that the tokens did die, all goes on as before.
struct DeadTokenJudge {
    private(set) var isShut = false
    private var isOverruled = false
    private var answers = 0
    private var dead = 0
    private let remembered: ClosedRange<Int>
    /// How often operators are to be told.
    private(set) var alarms = 0
    private(set) var resumptions = 0
    /// Monotonic nanoseconds; `nil` while nobody is held.
    private var heldUntil: Int64?

    init(remembering answers: ClosedRange<Int>) { remembered = answers }

    mutating func answered(dead isDead: Bool) {
        answers += 1
        if isDead { dead += 1 }
        if answers > remembered.upperBound {
            answers /= 2
            dead /= 2
        }
        guard answers >= remembered.lowerBound else { return }
        let share = Double(dead) / Double(answers)
        if isOverruled {
            isOverruled = share >= 0.25
        } else if !isShut, share > 0.5 {
            isShut = true
            alarms += 1
        } else if isShut, share < 0.25 {
            isShut = false
            resumptions += 1
        }
    }

    mutating func overrule() {
        isShut = false
        isOverruled = true
    }

    mutating func hold(at now: Int64) { heldUntil = heldUntil ?? now + 10_000_000_000 }

    /// - Returns: whether all who are held may go on.
    mutating func releases(at now: Int64) -> Bool {
        guard let until = heldUntil, until <= now else { return false }
        heldUntil = nil
        return true
    }
}
