import FanfareFanOut
import FanfareModel

/// Checks that alerts go before silent updates of other audiences, apart from the share that keeps those from starving.
///
/// For each round of the first lane the lower lanes may have a round of theirs, and an audience that has begun its quantum finishes it. The
/// balance therefore rises with each silent push while another audience awaits an alert, falls in that proportion with each push of the
/// first lane, and never exceeds a round. Another one is for visits of the first lane that bring no push, which this judge does not see.
struct LaneJudge {
    /// What a push is to the order of the lanes.
    enum Rank {
        /// It has an alert, or is another push of the first lane.
        case alert, urgent
        /// No other audience awaits an alert.
        case alone
        /// Another audience awaits an alert, and the push is silent, or a private end.
        case overtaking, overtakingEnd
    }

    /// Is `true` while pushes are judged that chance has chosen, whatever their urgency.
    var isByLot = false
    private let perSilent: Int
    private let perUrgent: Int
    private let balanceMax: Int
    private var balance = 0
    /// Visits that cursors may make to lineups which another topic's cursor has brought up to date: visits of the first lane without a push.
    private var vainVisits = 0
    /// Most private ends in a row while another audience awaits an alert.
    private let endsMax: Int
    private var ends = 0

    init(_ shares: LaneShares) {
        perSilent = shares.visits[0]
        perUrgent = shares.visits.dropFirst().reduce(0, +)
        balanceMax = (2 * perUrgent + shares.quantum) * perSilent
        endsMax = 4 * shares.quantum
    }

    /// - Returns: the fault of a push; `nil` if it has its turn.
    mutating func seen(_ rank: Rank) -> String? {
        switch rank {
        case .alert: alert()
        case .urgent: urgent()
        case .alone: break
        case .overtaking: return silentBeforeAlert()
        case .overtakingEnd: return endBeforeAlert()
        }
        return nil
    }

    mutating func silentBeforeAlert() -> String? {
        balance += perSilent
        let excused = min(vainVisits, max(0, balance - balanceMax + perUrgent - 1) / perUrgent)
        vainVisits -= excused
        balance -= excused * perUrgent
        return balance > balanceMax ? "silent pushes overtake the alerts of other audiences" : nil
    }

    /// Notes that a topic's cursor is to visit this many lineups, of so many topics together.
    mutating func cursorBegins(over lineups: Int, most: Int) { vainVisits = min(vainVisits + lineups, most) }

    mutating func endBeforeAlert() -> String? {
        urgent()
        ends += 1
        return ends > endsMax ? "private ends overtake the alerts of others (10)" : nil
    }

    mutating func alert() {
        urgent()
        ends = 0
    }

    /// Notes a push of the first lane: an alert, a start, or an end.
    mutating func urgent() { balance = max(0, balance - perUrgent) }
}
