import FanfareDecisions
import FanfareFanOut
import FanfareLog
import FanfareModel
import Testing

@testable import Fanfare

/// Findings of a thread that has read a store's cards.
@Suite struct LoadedCardsTests {
    private static let now = FeedTime(seconds: 1_790_000_000)

    private static func card(
        _ name: String, of subscriber: String = "anna", _ phase: Card.Phase = .starting, token: UInt8 = 1
    ) -> Card {
        var card = Card(
            subscriber: subscriber, activity: name, token: [token], audience: .topic(TopicID("match")), startedAt: now)
        card.phase = phase
        return card
    }

    private static func store(_ cards: [Card]) throws -> TroubledPeople {
        let store = TroubledPeople()
        try store.apply(cards.map { PeopleChange.insert($0) })
        return store
    }

    /// Reads all cards of a store for one shard.
    private static func read(
        _ store: TroubledPeople, retry: (LogError) -> Bool = { _ in true }
    ) throws -> StoredCards {
        let cards = try StoredCards(PeopleRegister(store), beside: nil)
        let earlier = try EarlierProcess(MemoryLog()) { _ in }
        let distribution = LoadingDistribution(to: [[LoadingQueue()]], apps: [], limits: Rules.Limits(), now: now)
        cards.load(distribution, after: earlier, retry: retry)
        return cards
    }

    private static func hasNothing(_ found: LoadedCards) -> Bool {
        found.starting.isEmpty && found.lines.isEmpty && !found.lacksSlices
    }

    @Test func ofAllCardsThoseThatAreBeingStartedAreFindings() throws {
        let starting = Self.card("starting")
        let store = try Self.store([Self.card("shown", .shown), starting, Self.card("leaving", .leaving)])
        let found = try Self.read(store).takeFound()
        #expect(found.starting == [starting])
        #expect(found.lines.isEmpty && !found.lacksSlices)
    }

    /// An import may insert a card beside one with its name.
    @Test func ofStartsWithOneNameTheNewestIsFoundAndTheOthersLeaveTheStore() throws {
        let (newer, other) = (Self.card("card", token: 2), Self.card("other"))
        let store = try Self.store([Self.card("card", token: 1), newer, other])
        let found = try Self.read(store).takeFound()
        #expect(found.starting == [newer, other])
        let count = try store.count()
        #expect(count == 2)
    }

    @Test func aSliceThatCannotBeReadThreeTimesIsLackingAndTheOthersAreRead() throws {
        let lost = Self.card("lost")
        let slice = Card.slice(ofSubscriber: lost.subscriber, token: lost.token)
        let subscribers = (0..<100).map { "\($0)" }
        let elsewhere = subscribers.first { Card.slice(ofSubscriber: $0, token: lost.token) != slice }
        let subscriber = try #require(elsewhere)
        let kept = Self.card("kept", of: subscriber)
        let store = try Self.store([lost, kept])
        store.damage(slice: slice)
        var retries = 0
        let reading = try Self.read(store) { _ in
            retries += 1
            return true
        }
        let found = reading.takeFound()
        #expect(retries == 2 && found.lacksSlices && found.starting == [kept])
        #expect(found.lines.count == 1, "\(found.lines)")
        let says = found.lines.first?.contains("the cards of slice \(slice) from card 0 on are left out")
        #expect(says == true)
    }

    @Test func aRowThatCannotBeReadIsToldAndNoSliceIsLackingForIt() throws {
        let cards = ["first", "second", "third"].map { Self.card($0) }
        let store = try Self.store(cards)
        store.damagedSerial = 2
        let found = try Self.read(store).takeFound()
        #expect(found.starting == [cards[0], cards[2]] && !found.lacksSlices)
        #expect(found.lines.count == 1, "\(found.lines)")
        #expect(found.lines.first?.hasPrefix("1 cards of the store cannot be read, and are left out: ") == true)
    }

    /// The earlier process may have used the limits of a stored card; those of a card that the program hands in begin whole.
    @Test func onlyACardOfTheStoreCountsAsStored() throws {
        let store = try Self.store([Self.card("stored", .shown)])
        let others = SubscriberSequence([Self.card("other", .shown, token: 2).subscription()], expectedCount: 1)
        let cards = try StoredCards(PeopleRegister(store), beside: others)
        let earlier = try EarlierProcess(MemoryLog()) { _ in }
        let queue = LoadingQueue()
        let distribution = LoadingDistribution(to: [[queue]], apps: [], limits: Rules.Limits(), now: Self.now)
        cards.load(distribution, after: earlier, retry: { _ in false })
        queue.finish()
        var areStored: [ActivityID: Bool] = [:]
        while let batch = queue.take() {
            for case .follow(let id, _, _, _, _, let earlier) in batch { areStored[id] = earlier?.isStored }
        }
        #expect(areStored == [ActivityID("stored"): true, ActivityID("other"): false])
    }

    /// A reader of only a part of the starts would take the others for settled.
    @Test func aReaderThatGivesUpHasFoundNothing() throws {
        let cards = (0..<100).map { Self.card("\($0)", of: "\($0)") }
        let store = try Self.store(cards)
        store.damage(slice: Card.slices - 1)
        let reading = try Self.read(store) { _ in false }
        let found = reading.takeFound()
        #expect(Self.hasNothing(found))
    }

    @Test func findingsAreTakenOnce() throws {
        let store = try Self.store([Self.card("starting")])
        store.damage(slice: Card.slices - 1)
        let cards = try Self.read(store)
        let (first, second) = (cards.takeFound(), cards.takeFound())
        #expect(first.lacksSlices && first.lines.count == 1)
        #expect(Self.hasNothing(second))
    }
}

extension TroubledPeople {
    fileprivate func damage(slice: Int) {
        beforeSlice = { (next) throws(LogError) in
            if next == slice { throw LogError("the disk is broken", .damaged) }
        }
    }
}
