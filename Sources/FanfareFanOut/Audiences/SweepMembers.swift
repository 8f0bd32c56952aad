import FanfareQueues

/// The members of a `SweepOrder`, by position.
///
/// The first ones are an array, which is all that a small audience has: there are a million of those. Ten million followers of one topic would be
/// copied as such an array doubles, so members beyond `fewMax` are in segments, which stay where they are.
struct SweepMembers<Member> {
    private var few: [Member] = []
    /// Members from position `fewMax` on.
    private var others = SegmentedArray<Member>()

    /// Number of members that the array has at most: as many as a segment.
    static var fewMax: Int {
        @inline(__always) get { SegmentedArray<Member>.segmentCapacity }
    }

    var count: Int { few.count + others.count }

    subscript(position: Int) -> Member {
        @inline(__always) get {
            position < SweepMembers.fewMax ? few[position] : others[position - SweepMembers.fewMax]
        }
        @inline(__always) set {
            if position < SweepMembers.fewMax {
                few[position] = newValue
            } else {
                others[position - SweepMembers.fewMax] = newValue
            }
        }
    }

    /// Returns the members from a position on that stand side by side, at most `limit`. O(1).
    @inline(__always)
    func neighbours(from position: Int, limit: Int) -> ArraySlice<Member> {
        guard position < SweepMembers.fewMax else {
            return others.neighbours(from: position - SweepMembers.fewMax, limit: limit)
        }
        return few[position..<position + Swift.min(limit, few.count - position)]
    }

    mutating func append(_ member: Member) {
        if few.count < SweepMembers.fewMax { few.append(member) } else { others.append(member) }
    }

    mutating func removeLast() {
        if others.popLast() == nil { few.removeLast() }
    }

    /// Removes all members, and keeps the array's room for the next ones.
    mutating func removeAll() {
        few.removeAll(keepingCapacity: true)
        others = SegmentedArray()
    }

    mutating func swapAt(_ a: Int, _ b: Int) {
        let member = self[a]
        self[a] = self[b]
        self[b] = member
    }
}

extension SweepMembers: RandomAccessCollection {
    var startIndex: Int { 0 }
    var endIndex: Int { count }
}
