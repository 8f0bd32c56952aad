/// How many pushes are carried between one connection that is cut off with pushes in flight and the next, and how many may therefore be in
/// flight on a connection: of those nobody knows what became of them, and their alerts are not sent again.
///
/// A peer that ends connections again and again, such as one that does so for each bad token, takes a part of the pushes with it, however
/// many there are. Where nothing is cut off, what has been carried since says so, sooner the more connections there are.
struct Lifespan {
    /// Of what is carried between two endings, so much is in flight at most.
    private static let share = 8

    /// Of the last endings, the newest a quarter; `nil` while there has been none.
    private var usual: Int?
    /// Answers since the last ending, on whatever connection.
    private var since = 0
    /// Pushes that a connection may come to have in flight.
    private(set) var streamsMost = Int.max

    mutating func answered() {
        since += 1
        if let usual, since > usual { streamsMost = max(streamsMost, since / Lifespan.share) }
    }

    /// - Parameter answers: that the connection had brought.
    mutating func cutOff(after answers: Int) {
        // What ends together, with nothing between, has one reason.
        guard since > 0 else { return }
        let carried = max(answers, since)
        let usual = usual.map { $0 - $0 / 4 + carried / 4 } ?? carried
        self.usual = usual
        since = 0
        streamsMost = max(1, usual / Lifespan.share)
    }
}
