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

    /// Members are queued, visited, and leave before their visits.
    @Test(arguments: 0..<20 as Range<UInt64>) func whileAnUrgentMemberIsQueuedTheAlertIsAwaited(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var revisits = Revisits()
        /// For each queued member, whether it is urgent.
        var queued: [ActivitySlot: Bool] = [:]
        for step in 0..<3000 {
            let slot = slot(UInt32.random(in: 0..<40, using: &random))
            switch Int.random(in: 0..<8, using: &random) {
            case 0..<3:
                guard queued[slot] == nil else { continue }
                let (isUrgent, isLate) = (random.chance(0.3), random.chance(0.2))
                revisits.append(slot, isUrgent: isUrgent, isLate: isLate)
                queued[slot] = isUrgent && !isLate
            case 3..<6:
                guard queued.removeValue(forKey: slot) != nil else { continue }
                let before = revisits.prompt.count
                revisits.abandon(isWanted: { queued[$0] != nil }, isUrgent: { queued[$0] == true })
                let isCompact = revisits.prompt.count < before
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
        #expect(revisits.prompt.count == 18 && !revisits.awaitsAlert)
    }

    @Test func lateMemberIsNeverUrgent() {
        var revisits = Revisits()
        revisits.append(slot(1), isUrgent: true, isLate: true)
        #expect(!revisits.awaitsAlert)
    }
}
