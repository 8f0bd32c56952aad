internal import FanfareLoop

/// Ended connections that wait for their clients to close them, and the timer that closes the others.
struct LingeringConnections {
    /// Milliseconds that an ended connection waits.
    private static let milliseconds = 2000

    /// Closes the connections that are due.
    var timer: LoopTimer?
    /// The connections with the times at which they are closed for good, oldest first.
    private var waiting: [(connection: UInt32, due: UInt32)] = []

    /// - Parameter now: milliseconds since the simulator's start.
    mutating func add(_ connection: UInt32, at now: UInt32) {
        waiting.append((connection, now &+ UInt32(LingeringConnections.milliseconds)))
        if waiting.count == 1 { timer?.start(after: .milliseconds(LingeringConnections.milliseconds)) }
    }

    /// Removes and returns the next connection that is due; `nil` if there is none.
    mutating func popDue(at now: UInt32) -> UInt32? {
        guard let first = waiting.first, first.due <= now else { return nil }
        waiting.removeFirst()
        return first.connection
    }

    /// Starts the timer for the next connection.
    func arm(at now: UInt32) {
        if let first = waiting.first { timer?.start(after: .milliseconds(Int(first.due - now))) }
    }
}
