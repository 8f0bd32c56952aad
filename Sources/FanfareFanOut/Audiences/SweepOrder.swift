import FanfareQueues

/// An element of a `SweepOrder`.
protocol SweepMember {
    /// Index of the element in the column of positions.
    var index: Int { get }
}

extension ActivitySlot: SweepMember {
    var index: Int { Int(rawValue) }
}

/// The members of an audience without gaps, and how far the current sweep has come.
///
/// The unvisited members are those in the circular range of `remaining` positions from `cursor` on. A restart (for a newer version
/// mid-sweep) makes that range the whole circle again, beginning at the cursor: the sweep goes on and wraps around to the members that got
/// the older version.
///
/// Joining and leaving move at most three members and keep the partition exact: no unvisited member is ever skipped, and no visited
/// member is visited again in the same lap. The `positions` column, by `index` of the member, has each member's position; every call
/// updates it.
struct SweepOrder<Member: SweepMember> {
    private(set) var members = SweepMembers<Member>()
    private(set) var cursor = 0
    private(set) var remaining = 0

    var count: Int { members.count }

    /// Makes all members unvisited.
    mutating func restart() { remaining = members.count }

    /// Returns the next consecutive unvisited members, at most `limit`, and no more than stand side by side; none at the end of the lap. O(1).
    func next(limit: Int) -> ArraySlice<Member> {
        members.neighbours(from: cursor, limit: min(limit, remaining))
    }

    /// Returns the next unvisited members after the first `skipped` of them, at most `limit`, and none behind the last position. O(1).
    func next(limit: Int, skipping skipped: Int) -> Slice<SweepMembers<Member>> {
        guard skipped < remaining else { return members[cursor..<cursor] }
        let first = cursor + skipped < members.count ? cursor + skipped : cursor + skipped - members.count
        return members[first..<first + min(limit, remaining - skipped, members.count - first)]
    }

    /// Notes visits to the first `count` members that `next` returns, and advances the cursor.
    mutating func advance(by count: Int) {
        cursor += count
        if cursor == members.count { cursor = 0 }
        remaining -= count
    }

    /// Makes any of the next `count` unvisited members the next one. O(1).
    mutating func drawNext(among count: Int = .max, by random: UInt64, positions: inout GrowingColumn<UInt32>) {
        let count = min(count, remaining)
        guard count > 1 else { return }
        let position = cursor + Int(random % UInt64(count))
        exchange(cursor, position < members.count ? position : position - members.count, &positions)
    }

    func isUnvisited(_ position: Int) -> Bool {
        let distance = position >= cursor ? position - cursor : position + members.count - cursor
        return distance < remaining
    }

    /// Resets the order to one visited member.
    mutating func rest(_ member: Member) {
        members.removeAll()
        members.append(member)
        cursor = 0
        remaining = 0
    }

    /// Adds a member that the current sweep will visit. O(1).
    mutating func join(_ member: Member, positions: inout GrowingColumn<UInt32>) {
        let end = members.count
        members.append(member)
        positions[member.index] = UInt32(end)
        if remaining == 0 {
            cursor = end
        } else if cursor + remaining < end {
            // The unvisited range ends before the last position: its next position takes the joiner.
            exchange(end, cursor + remaining, &positions)
        }
        // A range that wraps, or that ended with the last position, has just grown by the new one.
        remaining += 1
    }

    /// Adds a member that the current sweep will not visit. O(1).
    mutating func joinVisited(_ member: Member, positions: inout GrowingColumn<UInt32>) {
        let end = members.count
        members.append(member)
        positions[member.index] = UInt32(end)
        // A range that wraps has gained the new last position and lost the last one of its wrapped part: the two members change places.
        let low = cursor + remaining - end
        if low > 0 { exchange(end, low - 1, &positions) }
    }

    /// Removes the member at `position`. O(1).
    ///
    /// The hole is closed from the last position. If the last member is unvisited and the hole is not (or lies in the other part of a wrapped
    /// range), the hole first moves over the borders of the range, so that each moved member stays on its side.
    mutating func leave(at position: Int, positions: inout GrowingColumn<UInt32>) {
        let last = members.count - 1
        var hole = position
        let unvisited = isUnvisited(position)
        let low = cursor + remaining - members.count  // size of the wrapped part [0, low), when positive
        if low > 0 {
            if hole < cursor {
                if hole < low {  // unvisited, wrapped part: close it from that part's own end
                    fill(&hole, from: low - 1, &positions)
                }
                fill(&hole, from: cursor - 1, &positions)  // the visited part's last member, beside the cursor
                cursor -= 1
            }
        } else if unvisited {
            fill(&hole, from: cursor + remaining - 1, &positions)
        } else if hole < cursor, cursor + remaining == members.count, remaining > 0 {
            fill(&hole, from: cursor - 1, &positions)
            cursor -= 1
        }
        fill(&hole, from: last, &positions)
        members.removeLast()
        if unvisited { remaining -= 1 }
        if cursor >= members.count { cursor = 0 }
    }

    /// Describes a cursor or a lap that the members do not allow; `nil` if there is none. O(1).
    func violation() -> String? {
        guard members.isEmpty ? cursor == 0 : members.indices.contains(cursor), (0...members.count).contains(remaining)
        else { return "a sweep of \(members.count) stands at \(cursor) and has \(remaining) to visit" }
        return nil
    }

    private mutating func fill(_ hole: inout Int, from source: Int, _ positions: inout GrowingColumn<UInt32>) {
        guard source != hole else { return }
        members[hole] = members[source]
        positions[members[hole].index] = UInt32(hole)
        hole = source
    }

    private mutating func exchange(_ a: Int, _ b: Int, _ positions: inout GrowingColumn<UInt32>) {
        members.swapAt(a, b)
        positions[members[a].index] = UInt32(a)
        positions[members[b].index] = UInt32(b)
    }
}
