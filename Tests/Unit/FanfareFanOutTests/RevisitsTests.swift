import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct RevisitsTests {
    private func slot(_ index: UInt32) -> ActivitySlot { ActivitySlot(index) }

    @Test func lateMembersStandApart() {
        var revisits = Revisits()
        revisits.append(slot(1), isUrgent: false, isLate: true)
        revisits.append(slot(2), isUrgent: false, isLate: false)
        #expect(revisits.slots == [slot(1), slot(2)])
        let prompt = [revisits.nextPrompt { _ in false }, revisits.nextPrompt { _ in false }]
        let late = [revisits.nextLate(), revisits.nextLate()]
        #expect(prompt == [slot(2), nil] && late == [slot(1), nil])
    }

    @Test func alertIsAwaitedUntilTheLastUrgentMemberHasHadItsVisit() {
        var revisits = Revisits()
        for index in UInt32(0)..<3 { revisits.append(slot(index), isUrgent: index > 0, isLate: false) }
        var awaits: [Bool] = []
        for _ in 0..<3 {
            awaits.append(revisits.awaitsAlert)
            _ = revisits.nextPrompt { $0 != slot(0) }
        }
        #expect(awaits == [true, true, true] && !revisits.awaitsAlert)
    }

    /// Members are queued, visited, and leave before their visits: so few that each pass examines all entries at once, or more.
    @Test(arguments: 0..<20 as Range<UInt64>, [UInt32(40), 400])
    func whileAnUrgentMemberIsQueuedTheAlertIsAwaited(seed: UInt64, members: UInt32) {
        var random = SplitMix64(seed: seed)
        var revisits = Revisits()
        /// For each queued member, whether it is urgent.
        var queued: [ActivitySlot: Bool] = [:]
        for step in 0..<3000 {
            let slot = slot(UInt32.random(in: 0..<members, using: &random))
            switch Int.random(in: 0..<8, using: &random) {
            case 0..<3:
                guard queued[slot] == nil else { continue }
                let (isUrgent, isLate) = (random.chance(0.3), random.chance(0.2))
                revisits.append(slot, isUrgent: isUrgent, isLate: isLate)
                queued[slot] = isUrgent && !isLate
            case 3..<6:
                guard queued.removeValue(forKey: slot) != nil else { continue }
                let before = revisits.count
                revisits.abandon(isWanted: { queued[$0] != nil }, isUrgent: { queued[$0] == true })
                let isCompact = members == 40 && revisits.count < before
                guard !isCompact || revisits.awaitsAlert == queued.values.contains(true) else {
                    Issue.record("seed \(seed), step \(step): members that have left are awaited")
                    return
                }
            case 6:
                let next = revisits.nextPrompt { queued[$0] == true }
                if let next { queued[next] = nil }
            default:
                let next = revisits.nextLate()
                if let next { queued[next] = nil }
            }
            guard revisits.violation() == nil, revisits.awaitsAlert || !queued.values.contains(true) else {
                Issue.record("seed \(seed), step \(step): \(revisits.violation() ?? "an urgent member is queued")")
                return
            }
        }
    }

    /// Members are queued, visited, and leave before their visits, as their `queued` flags say; some come back, prompt or with failures, before their
    /// old entries are met.
    @Test(arguments: 0..<20 as Range<UInt64>) func everyWantedMemberIsVisitedAndTheEntriesOfOthersAreBounded(
        seed: UInt64
    ) {
        var random = SplitMix64(seed: seed)
        var revisits = Revisits()
        var wanted: Set<ActivitySlot> = []
        let members = 100
        for step in 0..<4000 {
            let slot = slot(UInt32.random(in: 0..<UInt32(members), using: &random))
            switch Int.random(in: 0..<8, using: &random) {
            case 0..<3:
                guard wanted.insert(slot).inserted else { continue }
                revisits.append(slot, isUrgent: false, isLate: random.chance(0.4))
            case 3..<6:
                guard wanted.remove(slot) != nil else { continue }
                revisits.abandon(isWanted: { wanted.contains($0) }, isUrgent: { _ in false })
            case 6: revisits.drawNext(by: random.next())
            default:
                var next = revisits.nextPrompt { _ in false } ?? revisits.nextLate()
                while let skipped = next, !wanted.contains(skipped) {
                    next = revisits.nextPrompt { _ in false } ?? revisits.nextLate()
                }
                #expect((next == nil) == wanted.isEmpty, "seed \(seed), step \(step)")
                if let next { wanted.remove(next) }
            }
            let violation = revisits.violation { wanted.contains($0) }
            #expect(violation == nil, "seed \(seed), step \(step)")
            #expect(wanted.isSubset(of: revisits.slots), "seed \(seed), step \(step)")
            #expect(revisits.count <= members * 2 + 40, "seed \(seed), step \(step)")
        }
    }

    /// The visit to the prompt entry leaves an entry among the late ones.
    @Test func aMemberThatComesBackWithFailuresHasOneEntryToBeSkippedAndOneWasAbandoned() {
        var revisits = Revisits()
        _ = revisits.nextLate()
        revisits.append(slot(1), isUrgent: false, isLate: false)
        revisits.abandon(isWanted: { _ in false }, isUrgent: { _ in false })
        revisits.append(slot(1), isUrgent: false, isLate: true)
        let visited = revisits.nextPrompt { _ in false }
        let violation = revisits.violation { _ in false }
        #expect(visited == slot(1) && revisits.slots == [slot(1)] && violation == nil)
    }

    @Test func membersAreVisitedInTheOrderInWhichTheyCame() {
        var revisits = Revisits()
        let slots = (0..<UInt32(50)).map { slot($0) }
        for slot in slots { revisits.append(slot, isUrgent: false, isLate: false) }
        var wanted = slots
        for slot in slots where slot.rawValue % 3 == 0 {
            wanted.removeAll { $0 == slot }
            revisits.abandon(isWanted: { wanted.contains($0) }, isUrgent: { _ in false })
        }
        var visited: [ActivitySlot] = []
        while let next = revisits.nextPrompt(isUrgent: { _ in false }) {
            if wanted.contains(next) { visited.append(next) }
        }
        #expect(visited == wanted && revisits.isEmpty)
    }

    /// A member that has left and come back has several entries, of which one is enough.
    @Test(arguments: [false, true]) func entriesThatAreRemovedLeaveOneForEachMember(isLate: Bool) {
        var revisits = Revisits()
        for number in 0..<17 {
            revisits.append(slot(3), isUrgent: false, isLate: isLate && number.isMultiple(of: 2))
            revisits.abandon(isWanted: { $0 == slot(3) }, isUrgent: { _ in false })
        }
        #expect(revisits.count == 1 && revisits.slots == [slot(3)])
        let violations = [revisits.violation { _ in true }, revisits.violation { _ in false }]
        #expect(violations[0] == nil && violations[1] != nil, "nobody has abandoned the entry")
    }

    /// All leave before anything is served.
    @Test func anAlertIsNotAwaitedOnceTheMembersThatLackItHaveLeft() {
        var revisits = Revisits()
        for index in UInt32(0)..<17 { revisits.append(slot(index), isUrgent: true, isLate: false) }
        for _ in 0..<17 { revisits.abandon(isWanted: { _ in false }, isUrgent: { _ in true }) }
        #expect(revisits.isEmpty && revisits.violation() == nil)
        revisits.append(slot(20), isUrgent: false, isLate: false)
        #expect(!revisits.awaitsAlert)
    }

    /// Members without an alert stay in the queue.
    @Test func anAlertIsNotAwaitedForMembersThatHaveLeftBesideOthers() {
        var revisits = Revisits()
        for index in UInt32(0)..<38 { revisits.append(slot(index), isUrgent: index < 20, isLate: false) }
        for _ in 0..<20 {
            revisits.abandon(isWanted: { $0.rawValue >= 20 }, isUrgent: { $0.rawValue < 20 })
        }
        #expect(revisits.count == 18 && !revisits.awaitsAlert)
    }

    @Test func aPassOverALongQueueFindsThatTheMembersThatLackAnAlertHaveLeft() {
        var revisits = Revisits()
        for index in UInt32(0)..<200 { revisits.append(slot(index), isUrgent: index < 100, isLate: false) }
        for _ in 0..<100 {
            revisits.abandon(isWanted: { $0.rawValue >= 100 }, isUrgent: { $0.rawValue < 100 })
        }
        #expect(revisits.count == 100 && !revisits.awaitsAlert && revisits.violation() == nil)
    }

    /// The last members leave, and some of the first are visited meanwhile.
    @Test func aLongQueueKeepsItsOrderDuringAPass() {
        var revisits = Revisits()
        let slots = (UInt32(0)..<1000).map { slot($0) }
        for slot in slots { revisits.append(slot, isUrgent: false, isLate: false) }
        var wanted = Set(slots)
        var visited: [ActivitySlot] = []
        for index in 501..<1000 {
            wanted.remove(slots[index])
            revisits.abandon(isWanted: { wanted.contains($0) }, isUrgent: { _ in false })
            guard index.isMultiple(of: 4), let next = revisits.nextPrompt(isUrgent: { _ in false }) else { continue }
            visited.append(next)
            wanted.remove(next)
        }
        while let next = revisits.nextPrompt(isUrgent: { _ in false }) {
            if wanted.contains(next) { visited.append(next) }
        }
        #expect(visited == Array(slots[...500]) && revisits.isEmpty && revisits.violation() == nil)
    }

    /// Members leave and come back again and again while nothing is served, and then most of them do no more.
    @Test(arguments: 0..<5 as Range<UInt64>) func anAbandonedEntryMakesALongQueueExamineFewOthers(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var revisits = Revisits()
        var wanted = Set((UInt32(0)..<2000).map { slot($0) })
        for index in UInt32(0)..<2000 { revisits.append(slot(index), isUrgent: false, isLate: false) }
        for step in 0..<40_000 {
            let slot = slot(UInt32.random(in: 0..<2000, using: &random))
            guard wanted.remove(slot) != nil else { continue }
            let examinedMax = revisits.count > Revisits.wholeMax ? Revisits.examinedMax : Revisits.wholeMax
            var examined = 0
            revisits.abandon(
                isWanted: {
                    examined += 1
                    return wanted.contains($0)
                }, isUrgent: { _ in false })
            if step < 30_000 {
                revisits.append(slot, isUrgent: false, isLate: random.chance(0.1))
                wanted.insert(slot)
            }
            guard examined <= examinedMax, revisits.count <= 2 * wanted.count + 32 else {
                Issue.record("step \(step): \(examined) examined, \(revisits.count) entries of \(wanted.count) members")
                return
            }
        }
        let violations = [revisits.violation(), revisits.violation { wanted.contains($0) }]
        #expect(violations == [nil, nil] && wanted.isSubset(of: revisits.slots))
    }

    /// Prompt members are visited and queued as fast as the pass examines their entries, and a member with failures leaves and comes back.
    @Test func lateEntriesAreExaminedWhilePromptVisitsKeepComing() {
        var revisits = Revisits()
        for index in UInt32(0)..<1000 { revisits.append(slot(index), isUrgent: false, isLate: false) }
        var wanted = Set((UInt32(0)..<1000).map { slot($0) })
        var next: UInt32 = 1000
        let failing = (UInt32(0)..<10).map { slot(1_000_000 + $0) }
        for round in 0..<20_000 {
            for _ in 0..<8 {
                let visited = revisits.nextPrompt { _ in false }
                if let visited { wanted.remove(visited) }
                revisits.append(slot(next), isUrgent: false, isLate: false)
                wanted.insert(slot(next))
                next += 1
            }
            let late = failing[round % failing.count]
            wanted.remove(late)
            revisits.abandon(isWanted: { wanted.contains($0) }, isUrgent: { _ in false })
            revisits.append(late, isUrgent: false, isLate: true)
            wanted.insert(late)
            guard revisits.count <= 2 * wanted.count + 64 else {
                Issue.record("round \(round): \(revisits.count) entries of \(wanted.count) members")
                return
            }
        }
        let violations = [revisits.violation(), revisits.violation { wanted.contains($0) }]
        #expect(violations == [nil, nil] && wanted.isSubset(of: revisits.slots))
    }

    /// Of 200 members 51 have left, and a pass has kept eight of the others.
    @Test func chanceDrawsAmongAllPromptMembersDuringAPass() {
        let drawn = (UInt64(0)..<192).map { random -> UInt32 in
            var revisits = Revisits()
            for index in UInt32(0)..<200 { revisits.append(slot(index), isUrgent: false, isLate: false) }
            for _ in 0..<51 {
                revisits.abandon(isWanted: { $0.rawValue < 149 }, isUrgent: { _ in false })
            }
            revisits.drawNext(by: random)
            let visited = revisits.nextPrompt { _ in false }
            return visited?.rawValue ?? .max
        }
        #expect(Set(drawn) == Set(UInt32(0)..<192))
    }

    @Test func lateMemberIsNeverUrgent() {
        var revisits = Revisits()
        revisits.append(slot(1), isUrgent: true, isLate: true)
        #expect(!revisits.awaitsAlert)
    }
}
