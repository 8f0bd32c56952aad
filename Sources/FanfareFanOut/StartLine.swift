/// Activities of an audience that are to be started and are no members yet. Each knows its place by the store's `positions`.
///
/// A start that has failed goes behind all others, but for a small share of the visits: the sweep of an audience that is large and
/// busy never ends.
struct StartLine {
    private(set) var prompt = WaitingLine()
    /// Those that have strikes.
    private(set) var late = WaitingLine()
    /// Visits of others for which the first late one has waited.
    private var passedOver = 0

    private static let visitsPerLateStart = 64

    var count: Int { prompt.count + late.count }

    /// Whose turn it is before the members'.
    var next: ActivitySlot? {
        passedOver >= StartLine.visitsPerLateStart ? late.first ?? prompt.first : prompt.first
    }

    mutating func noteVisits(_ count: Int) { if !late.isEmpty { passedOver += count } }

    /// - Parameter isLate: it has strikes.
    mutating func append(_ slot: ActivitySlot, isLate: Bool, positions: inout [UInt32]) {
        if isLate {
            late.append(slot, positions: &positions)
        } else {
            prompt.append(slot, positions: &positions)
        }
    }

    mutating func remove(at position: Int, isLate: Bool, positions: inout [UInt32]) {
        if isLate {
            passedOver = 0
            late.remove(at: position, positions: &positions)
        } else {
            prompt.remove(at: position, positions: &positions)
        }
    }
}
