import FanfareModel
import FanfareQueues
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

/// Chosen names of activities can neither collide nor make an activity slow to find.
@Suite struct IdentityTests {
    /// Two strings that are known to have the same 64-bit FNV-1a hash.
    private let twins = ["8yn0iYCKYHlIj4-BwPqk", "GReLUrM4wMqfg9yzV3KQ"]

    @Test func idsThatMeetUnderAPublicHashAreDifferentActivities() {
        #expect(twins[0].utf8.fnv1a == twins[1].utf8.fnv1a)
        let stage = EmbeddedShard()
        stage.follow(twins[0], token: 1)
        stage.follow(twins[1], token: 2)
        stage.publish(1)
        #expect(Set(stage.settle().map(\.token)) == [[1], [2]])
        stage.unfollow(twins[1])
        #expect(stage.settle().map(\.token) == [[2]])
        stage.publish(2)
        #expect(stage.settle().map(\.token) == [[1]])
    }

    @Test func deviceTokensThatMeetUnderAPublicHashHaveABudgetEach() {
        var budget = StartBudget()
        for _ in 0..<StartBudget.burst { #expect(budget.take(Array(twins[0].utf8), at: 0) == nil) }
        #expect(budget.take(Array(twins[0].utf8), at: 0) != nil)
        #expect(budget.take(Array(twins[1].utf8), at: 0) == nil)
    }

    @Test func anIdIsTheSameHoweverItsBytesAreStored() {
        let id = "an id of more than fifteen bytes"
        #expect(ActivityID(hashing: id) == ActivityID(hashing: Substring(id)))
        #expect(Array(id.utf8).keyedHash == id.utf8.keyedHash)
        #expect(Array("-\(id)".utf8)[1...].keyedHash == id.utf8.keyedHash)
        #expect(id.utf8.lazy.map { $0 }.count == id.utf8.count)
        // The two look equal, and are equal as `String`, but their bytes differ.
        #expect(ActivityID(hashing: "\u{e9}") != ActivityID(hashing: "e\u{301}"))
    }

    /// A public hash would put these 100,000 ids into one bucket in 64.
    @Test func idsChosenForTheirLowBitsAreFoundAsSoonAsAnyOthers() {
        var ids: [String] = []
        var prefix = 0
        let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_".utf8)
        while ids.count < 100_000 {
            prefix += 1
            let start = "\(prefix)/".utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
                ($0 ^ UInt64($1)) &* 0x100_0000_01b3
            }
            for first in letters {
                let hash = (start ^ UInt64(first)) &* 0x100_0000_01b3
                for second in letters
                where ((hash ^ UInt64(second)) &* 0x100_0000_01b3).mixed & 63 == 0 && ids.count < 100_000 {
                    ids.append("\(prefix)/" + String(decoding: [first, second], as: UTF8.self))
                }
            }
        }
        #expect(ids.prefix(100).allSatisfy { $0.utf8.fnv1a & 63 == 0 })
        var activities = GrowingColumn<Activity>()
        var table = SlotTable()
        for id in ids {
            activities.append(Activity(id: ActivityID(hashing: id)))
            table.insert(ActivitySlot(UInt32(activities.count - 1)), in: activities)
        }
        let probes = activities.indices.reduce(0) { $0 + table.probes(ActivitySlot(UInt32($1)), in: activities) }
        #expect(probes < 3 * ids.count, "\(probes) probes for \(ids.count) ids")
    }
}
