/// Measures the number of pushes between two connections that are cut off with pushes in flight, and limits the pushes in flight accordingly: the
/// outcome of a push that is cut off is unknown, and its alert is not sent again.
///
/// A peer that ends connections again and again, for example for each bad token, takes a share of the pushes with it,
/// however many there are. Pushes carried without a cut-off raise the maximum again, sooner with more connections.
struct Lifespan {
    /// Divisor of the pushes carried between two cut-offs; at most the quotient is in flight.
    private static let share = 8

    /// Moving average of the pushes carried between cut-offs, in which the newest counts a quarter; `nil` before the first.
    private var usual: Int?
    /// Answers since the last cut-off, on all connections.
    private var since = 0
    /// Maximum number of pushes in flight on a connection.
    private(set) var streamsMost = Int.max

    mutating func answered() {
        since += 1
        if let usual, since > usual { streamsMost = max(streamsMost, since / Lifespan.share) }
    }

    /// Records a connection that was cut off.
    ///
    /// - Parameter answers: number of answers that the connection had brought.
    mutating func cutOff(after answers: Int) {
        // Connections that end together, without an answer in between, have one cause.
        guard since > 0 else { return }
        let carried = max(answers, since)
        let usual = usual.map { $0 - $0 / 4 + carried / 4 } ?? carried
        self.usual = usual
        since = 0
        streamsMost = max(1, usual / Lifespan.share)
    }

    /// Describes a limit of the pushes in flight that no cut-off has set, or that is below the share of what was carried; `nil` if there is none. For
    /// tests.
    func violation() -> String? {
        guard let usual else {
            return streamsMost == .max ? nil : "at most \(streamsMost) in flight, without a cut-off"
        }
        let least = max(1, usual / Lifespan.share)
        return streamsMost >= least ? nil : "at most \(streamsMost) in flight, of \(usual) carried"
    }
}
