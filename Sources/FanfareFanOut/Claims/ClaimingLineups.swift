import FanfareModel
import FanfareQueues

/// Lineups of one member, by their rows, whose alerts wait for a claim.
struct ClaimingLineups {
    /// Lineups that a claim names, by its ticket.
    private var named: [UInt64: [UInt32]] = [:]
    /// Lineups that no claim names yet: there were too many names, or no turn for room has come since the lineups began to wait.
    private var unnamed = Queue<UInt32>()
    /// Is `true` if the lineups, and not the audiences, get the odd name at the next turn for which both wait.
    var getOddName = false
    /// The timer at which the lineups are examined next. They share one, because they wait for one store.
    var timer: ShardTimers.Entry?

    var isEmpty: Bool { named.isEmpty && unnamed.isEmpty }
    var hasUnnamed: Bool { !unnamed.isEmpty }
    var unnamedCount: Int { unnamed.count }

    /// - Parameter ticket: of the claim; `nil` if no claim names the member yet.
    mutating func append(_ row: Int, ticket: UInt64?) {
        if let ticket { named[ticket, default: []].append(UInt32(row)) } else { unnamed.append(UInt32(row)) }
    }

    /// Removes and returns lineups whose claims are durable, in the order of their tickets.
    ///
    /// - Parameter durable: ticket up to which claims are durable.
    mutating func takeNamed(through durable: UInt64) -> [Int] {
        var rows: [Int] = []
        for ticket in named.keys.filter({ $0 <= durable }).sorted() {
            rows += named.removeValue(forKey: ticket)?.map(Int.init) ?? []
        }
        return rows
    }

    /// Removes and returns the first lineups that no claim names. Examines `examinedMax(forNames:)` entries at most.
    ///
    /// - Parameter awaitsClaim: returns whether the lineup still waits. By now, another lineup may have the row, or an audience the lineup's state.
    ///   Either is visited for reasons of its own.
    mutating func takeUnnamed(_ limit: Int, awaitsClaim: (Int) -> Bool) -> [Int] {
        var rows: [Int] = []
        var examined = 0
        while rows.count < limit, examined < ClaimingLineups.examinedMax(forNames: limit),
            let row = unnamed.popFirst().map(Int.init)
        {
            examined += 1
            if awaitsClaim(row) { rows.append(row) }
        }
        return rows
    }

    /// Returns the maximum number of entries of lineups, or of audiences, that are examined for so many names.
    static func examinedMax(forNames count: Int) -> Int { 4 * count + 512 }

    // For checks.
    func contains(_ row: Int) -> Bool {
        unnamed.elements.contains(UInt32(row)) || named.values.contains { $0.contains(UInt32(row)) }
    }

    /// Describes a ticket for which no lineup waits; `nil` if there is none. Such a ticket would keep the timer for ever.
    func violation() -> String? {
        named.first { $0.value.isEmpty }.map { "no lineup waits for the claims of ticket \($0.key)" }
    }
}
