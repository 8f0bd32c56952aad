import FanfareModel
import FanfareQueues
import Testing

@testable import FanfareFanOut

@Suite struct ActivityStoreTests {
    /// Expected content of an activity's slot.
    private struct Known {
        let slot: ActivitySlot
        var token: [UInt8]
        var preferences = Preferences()
    }

    private static func token(_ random: inout SplitMix64) -> [UInt8] {
        let count = [32, 80, Int.random(in: 1...200, using: &random)].randomElement(using: &random) ?? 1
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    /// Activities with and without texts come and go, get new tokens and preferences.
    @Test(arguments: 0..<20 as Range<UInt64>) func anActivityHasItsTokenAndPreferencesUntilItIsRemoved(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var store = ActivityStore()
        var known: [ActivityID: Known] = [:]
        for step in 0..<1000 {
            let number = Int.random(in: 0..<60, using: &random)
            let id = number % 2 == 0 ? ActivityID("card \(number)") : ActivityID(UInt64(number))
            let token = Self.token(&random)
            switch (known[id], Int.random(in: 0..<4, using: &random)) {
            case (nil, _): known[id] = Known(slot: store.insert(id, token: token), token: token)
            case (let it?, 0):
                store.remove(it.slot)
                known[id] = nil
            case (let it?, 1):
                let preferences = Preferences(alerts: AlertMask.allCases.randomElement(using: &random) ?? .all)
                store.setPreferences(of: it.slot, to: preferences)
                known[id]?.preferences = preferences
            case (let it?, _):
                store.replaceToken(of: it.slot, with: token)
                known[id]?.token = token
            }
            let isRight = known.allSatisfy { id, it in
                Array(store.tokens[store[it.slot].token]) == it.token && store.name(of: it.slot).text == id.text
                    && store.preferences(of: it.slot) == it.preferences
                    && store.slots.find(id, in: store.activities) == it.slot
            }
            guard isRight, store.count == known.count, store.violation() == nil else {
                Issue.record("seed \(seed), step \(step): \(store.violation() ?? "an activity has another's")")
                return
            }
        }
    }

    @Test func columnsOfDifferentLengthsAndTokensInOnePlaceAreViolations() {
        var store = ActivityStore()
        let slots = (0..<UInt64(2)).map { store.insert(ActivityID($0), token: [UInt8($0)]) }
        #expect(store.violation() == nil)
        var shared = store
        shared[slots[0]].token = shared[slots[1]].token
        var longer = store
        longer.positions.append(0)
        store.tokens.remove(store[slots[0]].token)
        #expect(shared.violation() != nil && longer.violation() != nil && store.violation() != nil)
    }

    /// Activities have three megabytes in the end, and tokens with texts six.
    @Test func noInsertionMovesMoreThanAMegabyte() {
        var store = ActivityStore()
        let token = [UInt8](repeating: 7, count: 80)
        for number in 0..<65_536 { _ = store.insert(ActivityID("card \(number)"), token: token) }
        #expect(store.activities.copiedBytesMax <= 1 << 20 && store.tokens.copiedBytesMax <= 1 << 20)
        #expect(store.activities.copiedBytesMax > 0 && store.tokens.bytes > 4 << 20)
    }

    /// The text goes with the activity from token to token.
    @Test func anActivityKeepsTheTextOfItsID() {
        var store = ActivityStore()
        let slot = store.insert("anna-card", token: [1])
        store.replaceToken(of: slot, with: Array(repeating: 2, count: 80))
        #expect(store.name(of: slot) == "anna-card" && store.name(of: slot).text == "anna-card")
        store.remove(slot)
        let next = store.insert(ActivityID(7), token: [3])
        #expect(next == slot && store.name(of: next).text == nil && store.name(of: next) == ActivityID(7))
    }
}
