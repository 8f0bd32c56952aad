import FanfareModel

/// Trouble of a pool: the reason why nothing is being delivered, and the connections that the peer ended before they were useful.
struct PoolHealth {
    /// Current trouble; `nil` while pushes are accepted, and before the first failure.
    private(set) var trouble: PoolTrouble?
    /// Connections that the peer ended before the first answer, or by an answer that demands a new one, since the last answered push.
    private var connectionsInVain = 0
    /// Trouble that was reported for connections that the service ended before they were useful; `nil` once a connection has stayed.
    private var troubleInVain: PoolTrouble?

    static let connectionsInVainMax = 4

    /// Notes an answer, which shows that the service works and accepts our JWT.
    mutating func answered() {
        if trouble != nil || connectionsInVain > 0 { (trouble, connectionsInVain) = (nil, 0) }
    }

    /// Notes a connection that has opened.
    mutating func opened() {
        if trouble?.kind == .connection { trouble = nil }
    }

    /// Notes that a connection has been open for a while and takes requests: connections are useful again.
    mutating func stays() {
        guard trouble?.kind != .configuration else { return }
        connectionsInVain = 0
        if trouble == troubleInVain { trouble = nil }
        troubleInVain = nil
    }

    /// Notes a trouble. One that lasts keeps its start.
    mutating func note(_ kind: PoolTrouble.Kind, _ text: String, at now: MonotonicTime) {
        trouble = PoolTrouble(kind: kind, text: text, since: trouble?.since ?? now)
    }

    /// Notes that the only connection was lost. A trouble that is known already says more.
    mutating func noteLoss(_ text: String, at now: MonotonicTime) {
        if trouble == nil { note(.connection, text, at: now) }
    }

    /// Notes a connection that the peer ended before it was useful.
    ///
    /// - Returns: `true` if so many connections were in vain that operators need a report.
    mutating func noteVain(_ kind: PoolTrouble.Kind, _ text: String, at now: MonotonicTime) -> Bool {
        connectionsInVain += 1
        guard connectionsInVain >= PoolHealth.connectionsInVainMax, trouble?.kind != kind else { return false }
        note(kind, text, at: now)
        troubleInVain = kind == .service ? trouble : nil
        return true
    }
}
