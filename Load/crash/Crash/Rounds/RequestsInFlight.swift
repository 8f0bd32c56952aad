/// Requests on their way to the program, by number, and those that are to be asked for again because a kill has swallowed their answers.
struct RequestsInFlight {
    struct Entry {
        let request: Request
        let asked: History.Tick
        /// An event that was acknowledged once and is handed in again.
        var isRepeat = false

        /// Is `true` for a request that may have been carried out before it was asked for again.
        var mayBeGone: Bool { if case .unfollow = request { true } else { false } }
    }

    private var entries: [Int: Entry] = [:]
    private var again: [Entry] = []
    private var last = 0

    /// Number of requests without an answer.
    var count: Int { entries.count }
    /// Is `true` if all requests have an answer, and none is to be asked for again.
    var isEmpty: Bool { entries.isEmpty && again.isEmpty }
    func isWaiting(for number: Int) -> Bool { entries[number] != nil }

    /// Gives a request its number.
    mutating func send(_ entry: Entry) -> (number: Int, request: Request) {
        last += 1
        entries[last] = entry
        return (last, entry.request)
    }

    /// Returns the first of the requests that are to be asked for again, with its new number.
    ///
    /// - Parameter waits: is `true` for a request whose time has not come.
    mutating func sendAgain(unless waits: (Request) -> Bool) -> (number: Int, request: Request)? {
        guard let place = again.firstIndex(where: { !waits($0.request) }) else { return nil }
        return send(again.remove(at: place))
    }

    /// Notes that a request is to be asked for again.
    mutating func askAgain(_ entry: Entry) { again.append(entry) }

    /// Removes and returns the request that an answer is for; `nil` if there is none.
    mutating func take(_ number: Int) -> Entry? { entries.removeValue(forKey: number) }

    /// Removes and returns the requests whose answers a kill has swallowed, in the order in which they were sent.
    mutating func takeLost() -> [Entry] {
        defer { entries = [:] }
        return entries.sorted { $0.key < $1.key }.map(\.value)
    }
}
