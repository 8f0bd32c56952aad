/// Part of an audience's sweep that is claimed.
struct ClaimFront {
    /// Ticket of the first claims that count for the newest alert. An activity that no claim names has the ticket 0.
    var firstTicket: UInt64 = 1
    /// Number of members, from the cursor on, that claims name. It is an estimate, because members that join or leave move others.
    private(set) var ahead = 0
    /// Number of members that are claimed at a time. A crash loses alerts that are claimed and not sent, so a block is a small part of the audience.
    private(set) var block = 0
    private var blockMax = 0

    private static let part = 64

    /// Begins a sweep.
    mutating func restart(members: Int, blocks: ClosedRange<Int>) {
        ahead = 0
        block = min(max(members / ClaimFront.part, blocks.lowerBound), blocks.upperBound)
        blockMax = min(2 * block, blocks.upperBound)
    }

    /// Notes that the claims of the next members were not durable in time.
    mutating func widen() { block = blockMax }

    /// Number of members to claim after the claimed ones; `nil` if enough are claimed.
    var wanted: Int? { ahead > block / 2 ? nil : block }

    mutating func claimed(_ count: Int) { ahead += count }
    mutating func visited(_ count: Int) { ahead -= min(ahead, count) }
    mutating func forget() { ahead = 0 }

    /// Describes a block beyond the bounds of its sweep, or a count below zero; `nil` if there is none.
    func violation() -> String? {
        guard (0...max(0, blockMax)).contains(block), ahead >= 0, firstTicket > 0 else {
            return "\(ahead) members are claimed from ticket \(firstTicket) on, \(block) at a time, at most \(blockMax)"
        }
        return nil
    }
}
