import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct StartCoordinatorTests {
    private let slot = ActivitySlot(3)

    private func start(renewing old: ActivityID? = nil) -> PendingStart {
        PendingStart(request: request(token: [1]), edition: 1, renews: old, audience: 0)
    }

    private func request(token: [UInt8]) -> StartRequest {
        StartRequest(
            activity: "card", token: token, attributesType: "Match", alert: AlertText(title: "Kick-off", body: "Now"))
    }

    @Test func startsThatWaitAreCountedWhateverBecomesOfThem() {
        var starts = StartCoordinator()
        for slot in UInt32(0)..<4 {
            starts.add(start(), for: ActivitySlot(slot))
            starts.postpone(ActivitySlot(slot))
            starts.postpone(ActivitySlot(slot))
        }
        #expect(starts.delayedCount == 4 && starts.count == 4)
        starts.enqueue(ActivitySlot(0))
        starts.send(ActivitySlot(1), showing: PendingStart.Shown(version: 1, displayHash: nil))
        starts.remove(ActivitySlot(2))
        #expect(starts.delayedCount == 1 && starts.count == 3)
        starts.add(start(), for: ActivitySlot(3))
        #expect(starts.delayedCount == 0 && starts.violation() == nil)
        #expect(starts.remove(ActivitySlot(2)) == nil)
    }

    @Test func startsThatAwaitTheirClaimsAreCountedWhateverBecomesOfThem() {
        var starts = StartCoordinator()
        for slot in UInt32(0)..<5 {
            starts.add(start(), for: ActivitySlot(slot))
            starts.awaitClaim(of: ActivitySlot(slot))
        }
        #expect(starts.delayedCount == 5 && starts.hasUnclaimed && starts.violation() == nil)
        starts.remove(ActivitySlot(0))
        #expect(starts.takeUnclaimed(upTo: 2, ticket: 1, at: 0) == [ActivitySlot(1), ActivitySlot(2)])
        #expect(starts.takeUnclaimed(upTo: 2, ticket: 2, at: 0).isEmpty, "two have no answer")
        // Another start takes a slot whose claim is on its way.
        starts.add(start(), for: ActivitySlot(1))
        starts.awaitClaim(of: ActivitySlot(1))
        #expect(starts.confirmClaims(through: 1) == [ActivitySlot(2)])
        starts.enqueue(ActivitySlot(2))
        #expect(starts.useClaim(of: ActivitySlot(1), at: 1) == false)
        #expect(starts.violation() == nil)
        #expect(starts.takeUnclaimed(upTo: 2, ticket: 2, at: 0) == [ActivitySlot(3)], "one has not left")
        for _ in 0..<2 { #expect(starts.useClaim(of: ActivitySlot(2), at: 1) == true) }
        #expect(starts.takeUnclaimed(upTo: 2, ticket: 3, at: 0) == [ActivitySlot(4)])
        #expect(starts.confirmClaims(through: 3) == [ActivitySlot(3), ActivitySlot(4)])
        for slot in UInt32(3)..<5 { starts.enqueue(ActivitySlot(slot)) }
        #expect(starts.violation() == nil)
        for slot in UInt32(1)..<5 { starts.remove(ActivitySlot(slot)) }
        #expect(starts.delayedCount == 0 && starts.violation() == nil)
        #expect(starts.takeUnclaimed(upTo: 2, ticket: 4, at: 0).isEmpty && !starts.hasUnclaimed)
    }

    @Test func aClaimThatTheStoreIsAboutToForgetLetsNoStartLeave() {
        var starts = StartCoordinator()
        starts.add(start(), for: slot)
        starts.awaitClaim(of: slot)
        #expect(starts.takeUnclaimed(upTo: 1, ticket: 1, at: 5) == [slot])
        #expect(starts.confirmClaims(through: 1) == [slot])
        starts.enqueue(slot)
        #expect(starts.useClaim(of: slot, at: 4 + PendingStart.claimAgeMax) == true)
        #expect(starts.useClaim(of: slot, at: 5 + PendingStart.claimAgeMax) == false)
        starts.awaitClaim(of: slot)
        #expect(starts.takeUnclaimed(upTo: 1, ticket: 2, at: 0 + PendingStart.claimAgeMax) == [slot])
        #expect(starts.violation() == nil)
    }

    @Test func unknownSlotChangesNothing() {
        var starts = StartCoordinator()
        starts.postpone(slot)
        starts.noteRefusal(of: slot)
        starts.move(slot, to: 1, at: 1)
        #expect(starts.delayedCount == 0 && starts.count == 0 && starts.takeRenewed(by: slot) == nil)
    }

    @Test func sentStartThatMovesMissesWhatComesAfterThatVersion() {
        var starts = StartCoordinator()
        starts.add(start(), for: slot)
        starts.send(slot, showing: PendingStart.Shown(version: 4, displayHash: 99))
        starts.move(slot, to: 2, at: 7)
        #expect(starts[slot]?.audience == 2 && starts.audiences == [2])
        #expect(starts[slot]?.shown?.version == 7 && starts[slot]?.shown?.displayHash == nil)
        #expect(starts.violation() == nil)
    }

    @Test func dueStartThatMovesShowsNothingYet() {
        var starts = StartCoordinator()
        starts.add(start(), for: slot)
        starts.move(slot, to: 2, at: 7)
        #expect(starts[slot]?.phase == .due && starts[slot]?.shown == nil)
    }

    @Test func startIsGivenUpAfterItsLastRefusal() {
        var starts = StartCoordinator()
        starts.add(start(), for: slot)
        for _ in 1..<StartFailure.refusalsMax { starts.noteRefusal(of: slot) }
        #expect(!starts.isRefusedTooOften(slot))
        starts.noteRefusal(of: slot)
        #expect(starts.isRefusedTooOften(slot) && starts.violation() == nil)
        starts.noteRefusal(of: slot)
        #expect(starts.violation() != nil)
    }

    @Test func renewalIsToldOfOnce() {
        var starts = StartCoordinator()
        starts.add(start(renewing: ActivityID(5)), for: slot)
        #expect(starts.takeRenewed(by: slot) == ActivityID(5))
        #expect(starts.takeRenewed(by: slot) == nil)
    }

    /// Returns starts of one device, which have the slots from 0.
    private func startsOfOneDevice(_ count: Int) -> StartCoordinator {
        var starts = StartCoordinator()
        for slot in 0..<count { starts.add(start(), for: ActivitySlot(UInt32(slot))) }
        return starts
    }

    @Test func deviceGetsAStartThatCameBack() {
        var starts = startsOfOneDevice(StartBudget.burst + 2)
        for slot in 0..<StartBudget.burst {
            let slot = ActivitySlot(UInt32(slot))
            #expect(starts.takeBudget(of: slot, at: 1) == nil)
            starts.send(slot, showing: PendingStart.Shown(version: 1, displayHash: nil))
        }
        let (next, last) = (ActivitySlot(UInt32(StartBudget.burst)), ActivitySlot(UInt32(StartBudget.burst + 1)))
        #expect(starts.takeBudget(of: next, at: 1) != nil)
        starts.returnBudget(for: [1])
        #expect(starts.takeBudget(of: next, at: 1) == nil)
        #expect(starts.takeBudget(of: next, at: 1) == nil, "it has it")
        #expect(starts.takeBudget(of: last, at: 1) != nil)
        // A start that goes, or gets another device's token, leaves it to others.
        starts.replaceRequest(of: next, with: request(token: [2]))
        #expect(starts.takeBudget(of: last, at: 1) == nil)
        starts.remove(last)
        #expect(starts.takeBudget(of: next, at: 1) == nil)
        starts.add(start(), for: last)
        #expect(starts.takeBudget(of: last, at: 1) == nil)
    }
}
