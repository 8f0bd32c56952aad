import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct StartCoordinatorTests {
    private let slot = ActivitySlot(3)

    private func start(renewing old: ActivityID? = nil) -> PendingStart {
        PendingStart(
            request: StartRequest(
                activity: "card", token: [1], attributesType: "Match", alert: AlertText(title: "Kick-off", body: "Now")),
            edition: 1, renews: old, audience: 0)
    }

    @Test func startsThatWaitAreCountedWhateverBecomesOfThem() {
        var starts = StartCoordinator()
        for slot in UInt32(0)..<4 {
            starts.add(start(), for: ActivitySlot(slot))
            starts.postpone(ActivitySlot(slot))
            starts.postpone(ActivitySlot(slot))
        }
        #expect(starts.waitingCount == 4 && starts.count == 4)
        starts.enqueue(ActivitySlot(0))
        starts.send(ActivitySlot(1), showing: PendingStart.Shown(version: 1, display: nil))
        starts.remove(ActivitySlot(2))
        #expect(starts.waitingCount == 1 && starts.count == 3)
        starts.add(start(), for: ActivitySlot(3))
        #expect(starts.waitingCount == 0 && starts.violation() == nil)
        #expect(starts.remove(ActivitySlot(2)) == nil)
    }

    @Test func unknownSlotChangesNothing() {
        var starts = StartCoordinator()
        starts.postpone(slot)
        starts.noteRefusal(of: slot)
        starts.move(slot, to: 1, at: 1)
        #expect(starts.waitingCount == 0 && starts.count == 0 && starts.takeRenewed(by: slot) == nil)
    }

    @Test func sentStartThatMovesMissesWhatComesAfterThatVersion() {
        var starts = StartCoordinator()
        starts.add(start(), for: slot)
        starts.send(slot, showing: PendingStart.Shown(version: 4, display: 99))
        starts.move(slot, to: 2, at: 7)
        #expect(starts[slot]?.audience == 2 && starts.audiences == [2])
        #expect(starts[slot]?.shown?.version == 7 && starts[slot]?.shown?.display == nil)
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
        for _ in 1..<PendingStart.refusalsMax { starts.noteRefusal(of: slot) }
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

    @Test func deviceGetsAStartThatCameBack() {
        var starts = StartCoordinator()
        for _ in 0..<StartBudget.burst { #expect(starts.takeBudget(for: [1], at: 1) == nil) }
        #expect(starts.takeBudget(for: [1], at: 1) != nil)
        #expect(starts.takeBudget(for: [2], at: 1) == nil)
        starts.returnBudget(for: [1])
        #expect(starts.takeBudget(for: [1], at: 1) == nil)
    }
}
