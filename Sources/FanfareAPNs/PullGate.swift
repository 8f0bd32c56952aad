/// Decides how much the pool may ask its source for: all there is room for, one push to try, or nothing for a while.
///
/// When APNs is in trouble, or we are misconfigured, the remedy is to stop asking: ten million activities need no retry
/// of their own. The gate closes, opens a crack for one push after a wait, and opens wholly when that one is accepted.
/// Times are monotonic nanoseconds.
struct PullGate {
    /// How many more answers were 500s, 503s and resets than were accepted before the gate closes. So it closes soon once half
    /// of the answers are such, and with fewer it stays open: each costs its own push, which goes again, and throughput falls
    /// in proportion.
    static let troubleMax = 16
    /// Accepted pushes that count against trouble to come: as many as a connection has on its way. For the answers of one read
    /// come in any order, and refusals, which have a body, behind all the others.
    static let creditMax = 1000
    /// Configuration faults in a row. APNs cuts off senders that go on erring, and every push would fail alike. Ten, because
    /// each connection may have one more on its way: so a pool of the usual size stops before the twentieth.
    static let faultsInARowMax = 10
    /// A person has to act; a try per minute notices when one has.
    static let faultWait = Duration.seconds(60)

    private enum State: Equatable {
        case open
        /// One push may be in flight; its answer decides.
        case trying
        case closed(until: Int64)
    }

    private var state = State.open
    private var troubleBalance = 0
    private var faultsInARow = 0
    private var backoff = Backoff(first: .milliseconds(50), most: .seconds(30))

    /// When closed: from when one push may be tried.
    var closedUntil: Int64? { if case .closed(let until) = state { until } else { nil } }

    /// How many more pushes may go out now.
    mutating func room(inFlight: Int, at now: Int64) -> Int {
        if case .closed(let until) = state, now >= until { state = .trying }
        return switch state {
        case .open: .max
        case .trying: inFlight == 0 ? 1 : 0
        case .closed: 0
        }
    }

    mutating func accepted() {
        faultsInARow = 0
        troubleBalance = max(-Self.creditMax, troubleBalance - 1)
        // A push that was sent before the gate closed says nothing about now.
        if state == .trying {
            state = .open
            troubleBalance = 0
            backoff.reset()
        }
    }

    /// APNs answered 500 or 503, or reset a request.
    /// - Returns: how long the gate has closed for, when this is what closed it.
    mutating func trouble(at now: Int64, using random: inout some RandomNumberGenerator) -> Duration? {
        troubleBalance += 1
        guard state == .trying || (state == .open && troubleBalance >= Self.troubleMax) else { return nil }
        return close(for: backoff.next(using: &random), at: now)
    }

    /// APNs answered that we are misconfigured.
    /// - Returns: whether this one closed the gate.
    mutating func fault(at now: Int64) -> Bool {
        faultsInARow += 1
        guard closedUntil == nil, state == .trying || faultsInARow >= Self.faultsInARowMax else { return false }
        shut(at: now)
        return true
    }

    /// Closes until a person may have acted.
    mutating func shut(at now: Int64) { _ = close(for: Self.faultWait, at: now) }

    private mutating func close(for wait: Duration, at now: Int64) -> Duration {
        state = .closed(until: now + wait.nanoseconds)
        return wait
    }
}

extension Duration {
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
