/// FIFO queue of one lane's members, stale entries included. It consists of blocks, because a million lineups may wait in a lane: no call
/// moves or releases more entries than one block has.
struct LaneQueue {
    private static let blockMax = 512
    /// Blocks in order, never without one. An entry is `nil` once it is removed.
    private var blocks: [[LaneMember?]] = [[]]
    /// Position of the first entry in the first block.
    private var head = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }
    var first: LaneMember? { head < blocks[0].count ? blocks[0][head] : nil }

    mutating func append(_ member: LaneMember) {
        if blocks[blocks.count - 1].count == LaneQueue.blockMax {
            blocks.append([])
            blocks[blocks.count - 1].reserveCapacity(LaneQueue.blockMax)
        }
        blocks[blocks.count - 1].append(member)
        count += 1
    }

    mutating func removeFirst() {
        blocks[0][head] = nil
        head += 1
        count -= 1
        guard head == blocks[0].count else { return }
        head = 0
        if blocks.count > 1 { blocks.removeFirst() } else { blocks[0].removeAll(keepingCapacity: true) }
    }

    /// Exchanges the first entry with any of them. All blocks but the last are full, and all entries before `head` are gone.
    mutating func drawFirst(by random: UInt64) {
        guard count > 1 else { return }
        let place = head + Int(random % UInt64(count))
        let (block, entry) = (place / LaneQueue.blockMax, place % LaneQueue.blockMax)
        let first = blocks[0][head]
        blocks[0][head] = blocks[block][entry]
        blocks[block][entry] = first
    }

    mutating func removeAll(where isUnwanted: (LaneMember) -> Bool) {
        let old = self
        self = LaneQueue()
        for member in old.blocks.joined() {
            if let member, !isUnwanted(member) { append(member) }
        }
    }

    /// Describes blocks with a gap, a wrong count, or a member whose state contradicts itself; `nil` if there are none.
    func violation() -> String? {
        let entries = blocks.joined().count { $0 != nil }
        guard entries == count, blocks[0].prefix(head).allSatisfy({ $0 == nil }),
            blocks.dropLast().allSatisfy({ $0.count == LaneQueue.blockMax })
        else { return "a lane's queue counts \(count) entries, has \(entries) from \(head) on" }
        for member in blocks.joined() { if let violation = member?.lane.violation() { return violation } }
        return nil
    }

    /// Number of entries whose member is not in this lane, for checks.
    func staleCount(in lane: Int) -> Int {
        blocks.joined().count { $0.map { $0.lane.current != lane } ?? false }
    }
}
