import FanfareModel

/// The dead-token guard from an operator's view. When more than half of the recent answers report dead tokens, activities are no longer
/// removed but held; ten seconds after the first one was held, a limited number at a time is tried again, in the order in which they came.
/// Removal resumes when the share falls below a quarter or an operator confirms the dead answers.
struct DeadTokenJudge {
    private(set) var isShut = false
    private var isOverruled = false
    private var answers = 0
    private var dead = 0
    private let remembered: ClosedRange<Int>
    /// Number of alarms that operators must get, and of those that they have got; `resumptions` likewise.
    private var alarms = (due: 0, heard: 0)
    private var resumptions = (due: 0, heard: 0)
    /// Time of the next release; `nil` while no activity is held.
    private var heldUntil: MonotonicTime?
    /// Held phones, with the token that looks dead.
    private var held: [(phone: Int, token: [UInt8])] = []
    private let probes: Int
    /// Is `true` if it was unknown whether the shard still held a phone at its turn: the order of the later ones is then unknown, too.
    private(set) var isInDoubt = false

    enum Stay { case stays, hasGone, mayHaveGone }

    init(remembering answers: ClosedRange<Int>, probes: Int) { (remembered, self.probes) = (answers, probes) }

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
            alarms.due += 1
        } else if isShut, share < 0.25 {
            isShut = false
            resumptions.due += 1
        }
    }

    /// Notes a line for operators.
    mutating func heard(_ line: String) {
        if line.contains("went to dead tokens") { alarms.heard += 1 }
        if line.contains("dead tokens are few again") { resumptions.heard += 1 }
    }

    /// Checks that operators have heard everything once all reports have come.
    func violation() -> String? {
        guard alarms.due != alarms.heard || resumptions.due != resumptions.heard else { return nil }
        return "operators were told \(alarms.heard) and \(resumptions.heard) times of dead tokens"
    }

    mutating func overrule() {
        isShut = false
        isOverruled = true
    }

    mutating func hold(_ phone: Int, _ token: [UInt8], at now: MonotonicTime) {
        held.append((phone, token))
        heldUntil = heldUntil ?? now + .seconds(10)
    }

    /// - Returns: phones that are released and may be served again.
    mutating func release(at now: MonotonicTime, stay: (_ phone: Int, _ token: [UInt8]) -> Stay) -> [Int] {
        guard let until = heldUntil, until <= now else { return [] }
        held.removeAll { stay($0.phone, $0.token) == .hasGone }
        isInDoubt = isInDoubt || held.contains { stay($0.phone, $0.token) == .mayHaveGone }
        let count = isInDoubt || !isShut ? held.count : min(probes, held.count)
        let released = held.prefix(count).map(\.phone)
        held.removeFirst(count)
        heldUntil = held.isEmpty ? nil : now + .seconds(10)
        return released
    }
}
