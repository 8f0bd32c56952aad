/// Requests on their way to the program, by number, and those that are to be asked for again because a kill has swallowed their answers.
struct RequestsInFlight {
    struct Entry {
        let request: Request
        let asked: History.Tick
        /// A call that was acknowledged once and is handed in again: an event by its id, another one by its idempotency key.
        var isRepeat = false
        /// Is `true` for a request whose first answer a kill has swallowed: nobody knows whether the engine has it.
        fileprivate(set) var mayBeKnown = false

        /// Is `true` for a request that may be answered without being kept: the first one has ended its card, or a restart gives its start up.
        var mayBeGone: Bool {
            switch request {
            case .unfollow: true
            case .start: mayBeKnown
            default: false
            }
        }

        /// Says why the answer cannot be right by which a call is new or known; `nil` if it can.
        func fault(of answer: Answer) -> String? {
            switch answer {
            case .repeated where !isRepeat && !mayBeKnown: "a new call is answered as a repeated one"
            case .durable where isRepeat && request.key != nil: "a repeated call is answered as a new one"
            default: nil
            }
        }

        init(request: Request, asked: History.Tick, isRepeat: Bool = false) {
            (self.request, self.asked, self.isRepeat) = (request, asked, isRepeat)
        }
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
    mutating func askAgain(_ entry: Entry) {
        var entry = entry
        entry.mayBeKnown = true
        again.append(entry)
    }

    /// Removes and returns the request that an answer is for; `nil` if there is none.
    mutating func take(_ number: Int) -> Entry? { entries.removeValue(forKey: number) }

    /// Removes and returns the requests whose answers a kill has swallowed, in the order in which they were sent.
    mutating func takeLost() -> [Entry] {
        defer { entries = [:] }
        return entries.sorted { $0.key < $1.key }.map(\.value)
    }
}
