import FanfareModel

/// Judge of dead tokens: the engine reports each activity whose token was answered as dead, once.
struct TokenDeathJudge {
    /// Activities whose death the engine has not reported.
    private var untold: Set<ActivityID> = []

    mutating func answeredDead(_ id: ActivityID) { untold.insert(id) }

    /// - Returns: the fault of the report; `nil` if it is right.
    mutating func heard(of id: ActivityID) -> String? {
        untold.remove(id) == nil ? "the death of a token was reported that was not answered so, or twice" : nil
    }

    /// Checks what must hold in the morning.
    func violation() -> String? { untold.isEmpty ? nil : "\(untold.count) dead tokens were not reported" }
}
