import FanfareLog
import FanfareModel
import Testing

@testable import Fanfare

/// Changes of cards that come faster than a store takes them, and everybody else.
@Suite struct InboxTests {
    private static func change(_ number: Int) -> CoreRequest {
        let card = Card.of(number)
        return .person(.follow(card), .follow(card.subscription(), app: 0), nil)
    }

    /// An engine whose disk takes nothing, with as many changes as may wait for it.
    private static func fullOfChanges() throws -> OneThread {
        let disk = ManualDisk()
        let engine = OneThread(mailbox: 16, disk: disk)
        disk.isStuck = true
        for number in 0..<8 { #expect(engine.ask(change(number))) }
        engine.settle()
        try #require(engine.inbox.post(change(8)) == .full)
        return engine
    }

    /// A million people may follow while a goal falls.
    @Test func changesOfCardsLeaveHalfOfTheMailboxToEvents() {
        let disk = ManualDisk()
        let engine = OneThread(mailbox: 16, disk: disk)
        disk.isStuck = true
        var taken = 0
        while taken < 100, engine.ask(Self.change(taken)) {
            taken += 1
            engine.settle()
        }
        #expect(taken == 8)
        #expect(engine.ask(.event(.number(1))))
        #expect(engine.inbox.post(Self.change(8)) == .full)
        disk.isStuck = false
        engine.settle()
        #expect(engine.records.count { $0.origin == .event } == 1)
        #expect(engine.ask(Self.change(9)))
    }

    @Test func aCallThatOnlyRepeatsAKeyLeavesRoom() throws {
        let key = CallKey(try IdempotencyKey("key"), content: 1)
        let disk = ManualDisk()
        let engine = OneThread(mailbox: 16, disk: disk)
        for _ in 0..<100 {
            #expect(engine.ask(.keyed(key, Self.change(1), nil)))
            engine.settle()
        }
    }

    @Test func changesWaitInALineOfTheirOwn() async throws {
        let engine = try Self.fullOfChanges()
        let inbox = engine.inbox
        #expect(await inbox.room(for: .event(.number(1))) {} == .admitted(nil))
        let late = Task { try await inbox.post(Self.change(8), until: .never) {} }
        let room = Task { await inbox.room {} }
        while inbox.lineOfChanges.count < 1 || inbox.watchers.count < 1 { await Task.yield() }
        #expect(inbox.line.count == 0)
        _ = try await inbox.post(.event(.number(1)), until: .never) {}
        engine.disk?.isStuck = false
        while inbox.hasCallers { engine.settle() }
        _ = try await late.value
        #expect(await room.value == .admitted(nil))
    }

    @Test func aStopAnswersThoseWhoseChangesWait() async throws {
        let engine = try Self.fullOfChanges()
        let inbox = engine.inbox
        let late = Task { () async -> EngineError? in
            do throws(EngineError) { _ = try await inbox.post(Self.change(8), until: .never) {} } catch { return error }
            return nil
        }
        while inbox.lineOfChanges.count < 1 { await Task.yield() }
        engine.stop(within: .zero)
        #expect(await late.value == .stopped)
        #expect(inbox.post(Self.change(9)) == .stopped)
    }

    /// Without a store nothing is slow.
    @Test func changesFillTheMailboxWithoutAStore() {
        let engine = OneThread(mailbox: 16)
        for number in 0..<16 { #expect(engine.ask(Self.change(number))) }
        #expect(engine.inbox.post(Self.change(16)) == .full)
    }
}

extension Card {
    fileprivate static func of(_ number: Int) -> Card {
        Card(
            subscriber: "\(number)", activity: "card \(number)", token: [1, UInt8(number & 255), UInt8(number >> 8)],
            audience: .topic(OneThread.match), startedAt: FeedTime(seconds: 1_790_000_000))
    }
}
