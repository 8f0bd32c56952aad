/// Connections that may have room.
///
/// All other connections had none when they were last checked. An answer, a window, a sign of life or a written byte makes room
/// on a connection, and that event adds the connection here; so a turn checks no other connection, however many there are.
/// Far smaller bodies make room in all windows.
struct Candidates<Member: Candidate> {
    /// Members, least recently used first.
    private(set) var members: [Member] = []

    var isEmpty: Bool { members.isEmpty }

    /// Adds a member on which an event has occurred.
    mutating func add(_ member: Member) {
        guard !member.isCandidate else { return }
        member.isCandidate = true
        members.append(member)
    }

    mutating func remove(_ member: Member) {
        guard member.isCandidate else { return }
        member.isCandidate = false
        members.removeAll { $0 === member }
    }

    /// Moves a member to the end after its use.
    mutating func moveToEnd(_ member: Member) {
        guard members.last !== member, let index = members.firstIndex(where: { $0 === member }) else { return }
        members.remove(at: index)
        members.append(member)
    }

    /// Returns the member to use next, and removes members without room.
    ///
    /// - Parameter offer: offers a candidate under this index, or returns `false` if it has no room.
    /// - Returns: the member and its room.
    mutating func next(_ offer: (Member, _ index: Int, inout NextConnection) -> Bool) -> (Member, room: Int)? {
        var next = NextConnection()
        var kept = 0
        for index in members.indices {
            let member = members[index]
            guard offer(member, kept, &next) else {
                member.isCandidate = false
                continue
            }
            members.swapAt(kept, index)
            kept += 1
        }
        members.removeLast(members.count - kept)
        return next.index.map { (members[$0], next.room) }
    }

    /// Describes a candidate that does not know it is one, or that is listed twice; `nil` if there is none. For tests.
    func violation() -> String? {
        guard members.allSatisfy({ $0.isCandidate }) else { return "a candidate does not know that it is one" }
        return Set(members.map { ObjectIdentifier($0) }).count == members.count ? nil : "a candidate is listed twice"
    }
}
