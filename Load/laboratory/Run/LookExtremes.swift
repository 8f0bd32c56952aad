import FanfareFanOut

/// Greatest values of a run's looks at its engine: of the second that is not over, and of the whole run.
struct LookExtremes {
    /// Age of the oldest publication that an activity lacked in this second, in nanoseconds.
    private(set) var oldest: Int64 = 0
    /// Longest turn of the core's loop in this second, in nanoseconds.
    private(set) var longestTurn: Int64 = 0
    private(set) var commandsMax = 0
    private(set) var arrivalsMax = 0

    mutating func noteTurn(_ nanoseconds: Int64) { longestTurn = max(longestTurn, nanoseconds) }

    mutating func note(_ look: EngineLook) {
        oldest = max(oldest, look.freshness.oldestUndelivered.wholeNanoseconds)
        commandsMax = max(commandsMax, look.commandsWaiting)
        arrivalsMax = max(arrivalsMax, look.arrivalsWaiting)
    }

    /// Begins a second with the look that has ended the one before.
    mutating func beginSecond(_ look: EngineLook) {
        longestTurn = 0
        oldest = look.freshness.oldestUndelivered.wholeNanoseconds
    }
}
