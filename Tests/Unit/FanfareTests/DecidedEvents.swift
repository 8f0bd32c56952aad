/// Judge of decisions: each event that an engine has taken is decided, once and in order.
struct DecidedEvents {
    private var taken: [String] = []
    private var decided = 0

    /// Number of events that are to be decided.
    var waiting: Int { taken.count - decided }

    mutating func took(_ id: String) { taken.append(id) }

    /// - Returns: the fault of the decision; `nil` if it is that of the next event.
    mutating func decides(_ id: String?) -> String? {
        defer { decided += 1 }
        guard decided >= taken.count || id != taken[decided] else { return nil }
        return "event \(id ?? "without a name") is decided, which was not the next one taken"
    }
}
