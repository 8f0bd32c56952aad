/// The dead-token guard as operators are told of it: when more than half of the answers of late speak of dead tokens, nobody is
/// removed any more; whoever would have been is held, and tried again ten seconds after the first, so many at a time, in the order in
/// which they came.
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
    /// Phones, and the token that looks dead.
    private var held: [(phone: Int, token: [UInt8])] = []
    private let probes: Int
    /// Of somebody nobody can say whether the shard still had it when it was its turn: nor can they say whose turn it was since.
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

    mutating func hold(_ phone: Int, _ token: [UInt8], at now: Int64) {
        held.append((phone, token))
        heldUntil = heldUntil ?? now + 10_000_000_000
    }

    /// - Returns: those who are held and may go on.
    mutating func release(at now: Int64, stay: (_ phone: Int, _ token: [UInt8]) -> Stay) -> [Int] {
        guard let until = heldUntil, until <= now else { return [] }
        held.removeAll { stay($0.phone, $0.token) == .hasGone }
        isInDoubt = isInDoubt || held.contains { stay($0.phone, $0.token) == .mayHaveGone }
        let count = isInDoubt || !isShut ? held.count : min(probes, held.count)
        let released = held.prefix(count).map(\.phone)
        held.removeFirst(count)
        heldUntil = held.isEmpty ? nil : now + 10_000_000_000
        return released
    }
}
