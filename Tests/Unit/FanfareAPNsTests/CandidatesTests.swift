import FanfareModel
import Testing

@testable import FanfareAPNs

@Suite struct CandidatesTests {
    private final class Member: Candidate {
        let name: String
        var room: Int
        var isCandidate = false
        var timesAsked = 0

        init(_ name: String, room: Int) {
            self.name = name
            self.room = room
        }
    }

    private func next(_ candidates: inout Candidates<Member>) -> Member? {
        candidates.next { member, index, next in
            member.timesAsked += 1
            next.offer(index, room: member.room, inFlight: 0, errors: 0, isSlow: false)
            return member.room > 0
        }?.0
    }

    @Test func connectionWithoutRoomIsAskedAgainOnlyAfterAnEvent() {
        let members = [Member("full", room: 0), Member("roomy", room: 5)]
        var candidates = Candidates<Member>()
        for member in members { candidates.add(member) }
        for _ in 0..<10 { #expect(next(&candidates) === members[1]) }
        #expect(members[0].timesAsked == 1 && !members[0].isCandidate)
        members[0].room = 1
        #expect(next(&candidates) === members[1], "nothing has happened on it, as far as anybody has said")
        candidates.add(members[0])
        candidates.moveToEnd(members[1])
        #expect(next(&candidates) === members[0])
    }

    @Test func equalConnectionsHaveTheirTurnsOneAfterTheOther() {
        let members = ["a", "b", "c"].map { Member($0, room: 9) }
        var candidates = Candidates<Member>()
        for member in members { candidates.add(member) }
        var order = ""
        for turn in 0..<9 {
            // Asking for the next member without using it changes no turn.
            if turn % 2 == 0 { _ = next(&candidates) }
            guard let member = next(&candidates) else { break }
            order += member.name
            candidates.moveToEnd(member)
        }
        #expect(order == "abcabcabc")
    }

    /// A few pushes at a time, as between goals, make every connection wide and not one alone.
    @Test func fewPushesAtATimeWarmAllConnections() {
        let widthMax = 1000
        let members = (0..<5).map { Member("\($0)", room: 1) }
        var widths = [Int](repeating: 1, count: members.count)
        var candidates = Candidates<Member>()
        for _ in 0..<100 {
            var left = 100
            for (member, width) in zip(members, widths) {
                member.room = width
                candidates.add(member)
            }
            while left > 0, let member = next(&candidates) {
                let count = min(left, member.room)
                member.room -= count
                left -= count
                candidates.moveToEnd(member)
            }
            // One round trip: each answer widens its connection by one.
            for index in widths.indices { widths[index] = min(widthMax, 2 * widths[index] - members[index].room) }
        }
        #expect(widths.allSatisfy { $0 == widthMax }, "\(widths)")
    }

    @Test func candidateIsListedOnceAndNotAfterItsRemoval() {
        let members = (0..<4).map { Member("\($0)", room: $0 % 2) }
        var candidates = Candidates<Member>()
        for _ in 0..<3 { for member in members { candidates.add(member) } }
        #expect(candidates.members.count == 4)
        candidates.remove(members[1])
        candidates.remove(members[1])
        #expect(next(&candidates) === members[3])
        #expect(candidates.members.count == 1 && members.map(\.isCandidate) == [false, false, false, true])
    }

    @Test func aCandidateKnowsThatItIsOneWhateverHappens() {
        var random = SplitMix64(seed: 5)
        let members = (0..<6).map { Member("\($0)", room: 1) }
        var candidates = Candidates<Member>()
        for step in 0..<2000 {
            let member = members[Int.random(in: 0..<members.count, using: &random)]
            switch Int.random(in: 0..<5, using: &random) {
            case 0: candidates.add(member)
            case 1: candidates.remove(member)
            case 2: candidates.moveToEnd(member)
            case 3: member.room = 1 - member.room
            default: _ = next(&candidates)
            }
            #expect(candidates.violation() == nil, "step \(step)")
            #expect(candidates.members.count == members.count { $0.isCandidate }, "step \(step)")
        }
    }
}
