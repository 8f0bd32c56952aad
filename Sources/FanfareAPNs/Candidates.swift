/// Who can be among `Candidates`; of one list only, for the life of both.
protocol Candidate: AnyObject {
    /// Whether it is among them. Theirs alone.
    var isCandidate: Bool { get set }
}

/// Connections that may have room.
///
/// All others had none when they were asked, and what makes room on a connection, an answer, a window, a sign of life or a written byte,
/// happens on that connection, which is added then: a turn asks no other one, however many there are. Far smaller bodies make room in
/// all windows.
struct Candidates<Member: Candidate> {
    /// Those whose turn is longest ago come first.
    private(set) var members: [Member] = []

    /// Something has happened on it.
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

    /// It has had its turn.
    mutating func moveToEnd(_ member: Member) {
        guard members.last !== member, let index = members.firstIndex(where: { $0 === member }) else { return }
        members.remove(at: index)
        members.append(member)
    }

    /// The one that is next. Those that have no room are candidates no more.
    ///
    /// - Parameter offer: offers a candidate under this index, unless it has no room.
    /// - Returns: it, and its room.
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
}
