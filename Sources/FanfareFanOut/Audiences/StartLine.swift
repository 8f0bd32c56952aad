import FanfareQueues

/// Activities of an audience that are to be started and are no members yet; the store's `positions` has the place of each.
///
/// A start that has failed comes after all others. It gets a small share of the visits nevertheless, because the sweep of a large and busy audience
/// never ends.
struct StartLine {
    private(set) var prompt = ActivityLine()
    /// Starts that have failures.
    private(set) var late = ActivityLine()
    /// Number of other visits since the first late start began to wait, or since the last late start left.
    private var passedOver = 0

    private static let visitsPerLateStart = 64

    var count: Int { prompt.count + late.count }

    /// The start to visit next, before the members.
    var next: ActivitySlot? {
        passedOver >= StartLine.visitsPerLateStart ? late.first ?? prompt.first : prompt.first
    }

    func violation() -> String? { prompt.violation() ?? late.violation() }

    mutating func noteVisits(_ count: Int) { if !late.isEmpty { passedOver += count } }

    /// Makes any prompt start the next one.
    mutating func drawNext(by random: UInt64, positions: inout GrowingColumn<UInt32>) {
        prompt.drawFirst(by: random, positions: &positions)
    }

    /// - Parameter isLate: whether the start has failures.
    mutating func append(_ slot: ActivitySlot, isLate: Bool, positions: inout GrowingColumn<UInt32>) {
        if isLate {
            late.append(slot, positions: &positions)
        } else {
            prompt.append(slot, positions: &positions)
        }
    }

    mutating func remove(at position: Int, isLate: Bool, positions: inout GrowingColumn<UInt32>) {
        if isLate {
            passedOver = 0
            late.remove(at: position, positions: &positions)
        } else {
            prompt.remove(at: position, positions: &positions)
        }
    }
}
