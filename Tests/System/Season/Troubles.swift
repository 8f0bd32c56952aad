/// Troubles by time: on the second day and each seventh after it, while topics live.
enum Troubles {
    static func isBad(_ day: Int) -> Bool { day % 7 == 1 }

    /// Behaviour of the service.
    enum Service {
        case well
        /// Connections break: the outcome of each push stays unknown.
        case breaking
        /// No name is resolved and no connection is answered: no push leaves.
        case unreachable
        /// The team's old key is revoked and the new one is missing: pushes come back unprocessed.
        case keyRevoked
        /// Pushes are answered with 503.
        case down

        /// Time between two tries of a failing service, with one push each.
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

    /// Longest time until all pushes delayed by a failing service have been served.
    static let wakeOfTrouble = Duration.seconds(600)

    /// Is `true` if the service, or the wake of its trouble, may have delayed a push between two moments.
    static func delayed(from start: SeasonTime, to end: SeasonTime) -> Bool {
        var time = start + (.zero - wakeOfTrouble)
        while time < end {
            if service(at: time) != .well { return true }
            time = time + .seconds(30)
        }
        return service(at: end) != .well
    }

    /// Error of the machine's wall clock.
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

    /// Is `true` when an update of the app makes all people leave who have no renewed card.
    static func makesAllLeave(at time: SeasonTime) -> Bool { isBad(time.day) && time.ofDay == hour(19) }

    /// Minutes by which Central Europe's clocks are ahead of UTC.
    static func utcOffset(at time: SeasonTime) -> Int { time < endOfSummerTime ? 120 : 60 }
    static let endOfSummerTime = SeasonTime(day: 2, hour: 1)

    private static func hour(_ hour: Int64, _ minute: Int64 = 0) -> Int64 {
        hour * SeasonTime.perHour + minute * 60_000
    }
}
