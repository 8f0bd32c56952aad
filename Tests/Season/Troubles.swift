/// What goes wrong, and when: on the second day and each seventh after it, while topics live.
enum Troubles {
    static func isBad(_ day: Int) -> Bool { day % 7 == 1 }

    /// How the service answers.
    enum Service {
        case well
        /// Connections break: whether a push has arrived is never known.
        case breaking
        /// Nobody answers, and no name is found: nothing leaves.
        case unreachable
        /// The team's old key is revoked, and the new one is not there yet: what is tried comes back unprocessed.
        case keyRevoked
        /// What is tried is answered 503.
        case down

        /// One push at a time is tried while the service fails, so often.
        var retries: Duration {
            switch self {
            case .well, .breaking, .unreachable: .zero
            case .keyRevoked: .seconds(30)
            case .down: .seconds(1)
            }
        }
    }

    static func service(at time: SeasonTime) -> Service {
        guard isBad(time.day) else { return .well }
        return switch time.ofDay {
        case hour(9)..<hour(9) + 1000: .breaking
        case hour(9) + 1000..<hour(9, 20): .unreachable
        case hour(11)..<hour(11, 4): .keyRevoked
        case hour(13)..<hour(14): .down
        default: .well
        }
    }

    /// Whoever was made to wait by a service that failed has been served by so much later.
    static let wakeOfTrouble = Duration.seconds(600)

    /// Whether the service, or the wake of its trouble, has kept a push waiting between two moments.
    static func delayed(from start: SeasonTime, to end: SeasonTime) -> Bool {
        var time = start + (.zero - wakeOfTrouble)
        while time < end {
            if service(at: time) != .well { return true }
            time = time + .seconds(30)
        }
        return service(at: end) != .well
    }

    /// How far the machine's wall clock is from the truth.
    static func clockError(at time: SeasonTime) -> Duration {
        guard isBad(time.day) else { return .zero }
        return switch time.ofDay {
        case hour(15)..<hour(15, 30): .seconds(3600)
        case hour(16)..<hour(16, 30): .seconds(-3600)
        case hour(17)..<hour(17) + 3000: .seconds(3 * 86_400)
        case hour(18)..<hour(18) + 3000: .seconds(-3 * 86_400)
        default: .zero
        }
    }

    /// An update of the app makes everybody leave who has no card that is renewed.
    static func makesAllLeave(at time: SeasonTime) -> Bool { isBad(time.day) && time.ofDay == hour(19) }

    /// Minutes that Central Europe's clocks are ahead of UTC.
    static func utcOffset(at time: SeasonTime) -> Int { time < endOfSummerTime ? 120 : 60 }
    static let endOfSummerTime = SeasonTime(day: 2, hour: 1)

    private static func hour(_ hour: Int64, _ minute: Int64 = 0) -> Int64 {
        hour * SeasonTime.perHour + minute * 60_000
    }
}
