import FanfareModel
import Foundation
import Testing

@testable import FanfareLog

@Suite struct PeopleRegisterTests {
    private static let at = FeedTime(milliseconds: 1_781_359_200_123)

    private static func card(_ name: String, _ token: [UInt8], subscriber: String = "anna") -> Card {
        Card(
            subscriber: subscriber, activity: name, token: token, audience: .topic(TopicID("m/1")), startedAt: at)
    }

    /// Returns the cards that an engine which is created now would load.
    private static func loaded(_ store: any PeopleStore) throws -> [String: Card] {
        var cards: [String: Card] = [:]
        try PeopleRegister(store).load { row in
            if case .success((_, let card)) = row { cards[card.activity ?? ""] = card }
            return true
        }
        return cards
    }

    /// A start shows what its topic did then, and others have got more meanwhile.
    @Test func aStartedCardJoinsWhenItIsConfirmed() throws {
        func at(_ second: Int64) -> FeedTime { FeedTime(seconds: second) }
        var card = Self.card("card", [1])
        card.phase = .starting
        let start = PeopleEntry.start(card).taken(at: at(5))
        let tokens = (6...7).map { PeopleEntry.replaceToken("card", [UInt8($0)]).taken(at: at($0)) }
        #expect(try applied([start, tokens[0]]).card?.joinedAt == at(6))
        #expect(
            try applied([start] + tokens).card?.joinedAt == at(6),
            "another token of a card that is shown changes nothing")
    }

    private func applied(
        _ entries: [PeopleEntry], having cards: [Card] = [], firstApp: AppID? = nil
    ) throws -> (card: Card?, kept: [Bool]) {
        let store = MemoryPeopleStore()
        if !cards.isEmpty { try store.apply(cards.map { .insert($0) }, upTo: store.position + 1) }
        let register = PeopleRegister(store, firstApp: firstApp)
        try register.load { _ in true }
        try register.apply(entries)
        return (try Self.loaded(store)["card"], register.kept)
    }

    @Test func aCardIsWhatItsEntriesSay() throws {
        let calm = Preferences(alerts: .none)
        let (card, kept) = try applied([
            .follow(Self.card("card", [1])), .move("card", .topic(TopicID("m/2"))), .replaceToken("card", [2]),
            .setPreferences("card", calm), .unfollow("other"),
        ])
        #expect(card?.audience == .topic(TopicID("m/2")) && card?.token == [2] && card?.preferences == calm)
        #expect(card?.phase == .shown && card?.generation == 1 && card?.startedAt == Self.at)
        #expect(kept == [true, true, true, true, false])
    }

    /// Alerts from before a card joined a topic do not concern it.
    @Test func aCardKnowsSinceWhenItShowsItsTopic() throws {
        func at(_ second: Int64) -> FeedTime { FeedTime(seconds: second) }
        let follow = PeopleEntry.follow(Self.card("card", [1]))
        let (followed, _) = try applied([follow.taken(at: at(5)), follow.taken(at: at(9))])
        #expect(followed?.joinedAt == at(5), "a repeated follow is no new one")
        let moves = [PeopleEntry.move("card", .topic(TopicID("m/2"))), .move("card", .topic(TopicID("m/2")))]
        let (moved, _) = try applied([follow.taken(at: at(5)), moves[0].taken(at: at(6)), moves[1].taken(at: at(8))])
        #expect(moved?.joinedAt == at(6) && moved?.subscription().joinedAt == at(6))
        let again = PeopleEntry.follow(Self.card("card", [2]))
        let (new, _) = try applied([follow.taken(at: at(5)), PeopleEntry.unfollow("card"), again.taken(at: at(7))])
        #expect(new?.joinedAt == at(7))
        // Another token may be another card, which has nothing yet.
        let (other, _) = try applied([follow.taken(at: at(5)), again.taken(at: at(8))])
        #expect(other?.joinedAt == at(8))
        // Followers of another app have their states from that app's pushes.
        var elsewhere = Self.card("card", [1])
        elsewhere.app = AppID(bundleID: "other")
        let (moving, _) = try applied([follow.taken(at: at(5)), PeopleEntry.follow(elsewhere).taken(at: at(8))])
        #expect(moving?.joinedAt == at(8))
        // A start of a card that exists says how to renew it, and what it shows from now on.
        var renewal = Self.card("card", [9])
        (renewal.audience, renewal.phase) = (.topic(TopicID("m/2")), .starting)
        let (renewed, _) = try applied([follow.taken(at: at(5)), PeopleEntry.start(renewal).taken(at: at(8))])
        #expect(renewed?.audience == renewal.audience && renewed?.joinedAt == at(8))
        #expect(renewed?.token == [1] && renewed?.phase == .shown)
        // A start that its app confirms by a follow has what the start showed, and not what has come since.
        var start = Self.card("card", [9])
        start.phase = .starting
        let (confirmed, _) = try applied([PeopleEntry.start(start).taken(at: at(5)), again.taken(at: at(6))])
        #expect(confirmed?.joinedAt == at(6) && confirmed?.phase == .shown)
    }

    /// An earlier release has written the row, or an engine that pushes to no app.
    @Test func aRowWithoutAnAppBelongsToTheFirstApp() throws {
        let (one, two) = (AppID(bundleID: "one"), AppID(bundleID: "two"))
        var row = Self.card("card", [1])
        row.joinedAt = FeedTime(seconds: 5)
        func followed(_ app: AppID) throws -> Card? {
            var card = Self.card("card", [1])
            card.app = app
            let follow = PeopleEntry.follow(card).taken(at: FeedTime(seconds: 8))
            return try applied([follow], having: [row], firstApp: one).card
        }
        let (same, other) = (try followed(one), try followed(two))
        #expect(same?.app == one && same?.joinedAt == FeedTime(seconds: 5), "a repeated follow is no new one")
        #expect(other?.app == two && other?.joinedAt == FeedTime(seconds: 8))
        let moved = try applied([.move("card", .topic(TopicID("m/2")))], having: [row], firstApp: one).card
        #expect(moved?.app == one)
    }

    @Test func aFollowWithoutAnAppLeavesTheCardInItsApp() throws {
        var row = Self.card("card", [1])
        row.app = AppID(bundleID: "one")
        row.joinedAt = FeedTime(seconds: 5)
        let follow = PeopleEntry.follow(Self.card("card", [1])).taken(at: FeedTime(seconds: 8))
        let card = try applied([follow], having: [row]).card
        #expect(card?.app == row.app && card?.joinedAt == row.joinedAt)
    }

    /// The card before it was being ended for its age when the app registered the next one.
    @Test func aCardThatFollowsAnOldOneBeginsNow() throws {
        var next = Self.card("card", [2])
        next.startedAt = Self.at + .seconds(8 * 3600 - 60)
        #expect(try applied([.follow(Self.card("card", [1])), .follow(next)]).card?.startedAt == next.startedAt)
        next.token = [1]
        #expect(try applied([.follow(Self.card("card", [1])), .follow(next)]).card?.startedAt == Self.at)
    }

    @Test func aRepeatedFollowKeepsAgeAndPreferences() throws {
        var again = Self.card("card", [2])
        again.startedAt = Self.at + .seconds(60)
        let calm = Preferences(alerts: .none)
        let (card, _) = try applied([.follow(Self.card("card", [1])), .setPreferences("card", calm), .follow(again)])
        #expect(card?.token == [2] && card?.startedAt == Self.at && card?.preferences == calm)
    }

    /// The follow of another card under the name of one that is being ended.
    @Test func aNewCardUnderAnOldNameIsNew() throws {
        var next = Self.card("card", [2])
        next.startedAt = Self.at + .seconds(60)
        let (card, _) = try applied([.follow(Self.card("card", [1])), .unfollow("card"), .follow(next)])
        #expect(
            card
                == {
                    var new = next
                    new.generation = 1
                    return new
                }())
    }

    /// The id of a card without a name is made of its token, and stays what it was when that is replaced.
    @Test func aCardThatIsNamedByItsTokenIsFoundUnderItsFirstId() throws {
        let store = MemoryPeopleStore()
        var card = Self.card("", [1])
        (card.activity, card.subscriber) = (nil, nil)
        try store.apply([.insert(card)])
        let register = PeopleRegister(store)
        try register.load { _ in true }
        let id = ActivityID([UInt8]([1]).keyedHash)
        for token in 2...4 {
            try register.apply([.replaceToken(id, [UInt8(token)])])
            #expect(register.kept == [true])
        }
        try register.apply([.unfollow(id), .removed(id.rawValue, token: [UInt8]([4]).keyedHash)])
        #expect(try register.kept == [true, true] && store.count() == 0)
        try register.apply([.unfollow(id)])
        #expect(register.kept == [false])
    }

    @Test func anUnfollowedCardKeepsItsTokenUntilItIsOver() throws {
        let entries: [PeopleEntry] = [.follow(Self.card("card", [1])), .unfollow("card")]
        #expect(try applied(entries).card?.phase == .leaving)
        let over = PeopleEntry.removed(ActivityID("card").rawValue, token: [UInt8]([1]).keyedHash)
        #expect(try applied(entries + [over]).card == nil)
    }

    @Test func theEndOfAnEarlierTokenIsVoid() throws {
        let over = PeopleEntry.removed(ActivityID("card").rawValue, token: [UInt8]([1]).keyedHash)
        let card = try applied([.follow(Self.card("card", [1])), .replaceToken("card", [2]), over]).card
        #expect(card?.token == [2])
    }

    /// Store whose next transaction is written, and reported as failed, like one of LMDB's on a full disk. `Sendable` is unchecked because
    /// the test uses it on one thread.
    private final class DoubtfulStore: PeopleStore, @unchecked Sendable {
        let memory = MemoryPeopleStore()
        var fails = false
        private var written: LogPosition?

        var position: LogPosition { written == nil ? memory.position : memory.position - 1 }
        var nextSerial: UInt64 { memory.nextSerial }
        func apply(_ changes: [PeopleChange], upTo position: LogPosition) throws(LogError) {
            guard written != position else {
                written = nil
                return
            }
            try memory.apply(changes, upTo: position)
            guard fails else { return }
            (fails, written) = (false, position)
            throw LogError("the disk is full")
        }
        func card(_ key: CardKey) throws(LogError) -> Card? { memory.card(key) }
        func count(slice: Int) throws(LogError) -> Int { memory.count(slice: slice) }
        func read(
            slice: Int, from serial: UInt64,
            _ body: (CardKey, Result<Card, SerialError>) throws(LogError) -> Bool
        ) throws(LogError) { try memory.read(slice: slice, from: serial, body) }
    }

    /// The repeated call finds its own changes in the store, and is not to take them for those of another one.
    @Test func aTransactionThatFailedAndWasWrittenIsRepeatedAsItWas() throws {
        for entries in [
            [PeopleEntry.removed(ActivityID("old").rawValue, token: [UInt8]([1]).keyedHash)],
            [.follow(Self.card("new", [2]))], [.unfollow("old")],
        ] {
            let store = DoubtfulStore()
            let register = PeopleRegister(store)
            try register.apply([.follow(Self.card("old", [1]))])
            store.fails = true
            #expect(throws: LogError.self) { try register.apply(entries) }
            try register.apply(entries)
            #expect(register.kept == [true])
            try register.apply([.follow(Self.card("other", [3]))])
            let cards = try Self.loaded(store.memory)
            #expect(cards["other"]?.token == [3])
            #expect(try store.memory.count() == (entries.first == .follow(Self.card("new", [2])) ? 3 : cards.count))
        }
    }

    /// A start that has not left may be repeated with another token, or for another match.
    @Test func theLastOfTwoStartsHolds() throws {
        var first = Self.card("card", [1])
        first.phase = .starting
        var second = first
        (second.token, second.audience) = ([2], .topic(TopicID("m/2")))
        let (card, kept) = try applied([.start(first), .start(second)])
        #expect(kept == [true, true])
        #expect(card?.token == [2] && card?.audience == .topic(TopicID("m/2")) && card?.phase == .starting)
    }

    @Test func aStartIsACardOnceItsTokenIsKnown() throws {
        var start = Self.card("card", [9])
        start.phase = .starting
        #expect(try applied([.start(start)]).card?.phase == .starting)
        let shown = try applied([.start(start), .replaceToken("card", [1])]).card
        #expect(shown?.phase == .shown && shown?.token == [1])
        // No end can be sent to a start token.
        #expect(try applied([.start(start), .unfollow("card")]).card == nil)
        let known = try applied([.follow(Self.card("card", [1])), .start(start)])
        #expect(known.card?.phase == .shown && known.kept == [true, false])
    }

    /// A start may wait for its match until tomorrow. Its card is not ended for an age that the request has.
    @Test func aCardIsAsOldAsTheStartThatLeft() throws {
        var start = Self.card("card", [9])
        start.phase = .starting
        let shownAt = Self.at + .seconds(9 * 3600)
        let shown = try applied([.start(start), .replaceToken("card", [1], shownAt: shownAt)]).card
        #expect(shown?.startedAt == shownAt)
        let rotated = try applied([
            .start(start), .replaceToken("card", [1], shownAt: shownAt),
            .replaceToken("card", [2], shownAt: shownAt + .seconds(60)),
        ]).card
        #expect(rotated?.startedAt == shownAt, "another token makes no card younger")
        for token: [UInt8] in [[1], [9]] {
            for wait in [60, 9 * 3600] {
                var follow = Self.card("card", token)
                follow.startedAt = Self.at + .seconds(wait)
                let followed = try applied([.start(start), .follow(follow)]).card
                #expect(followed?.startedAt == follow.startedAt, "as the app says")
            }
        }
    }

    @Test func aCardThatNoStoreTakesIsNotKept() throws {
        let tooLong = Self.card(String(repeating: "x", count: Card.sizeMax.bytes), [1])
        let (card, kept) = try applied([.follow(tooLong), .follow(Self.card("card", [1]))])
        #expect(card != nil && kept == [false, true])
    }

    @Test func aCardMovesToAnotherSubscriber() throws {
        let (card, _) = try applied(
            [.follow(Self.card("card", [1]))] + (0..<8).map { .follow(Self.card("card", [1], subscriber: "s\($0)")) })
        #expect(card?.subscriber == "s7")
    }

    /// Store that fails now and then, before it makes any change.
    ///
    /// `Sendable` is unchecked because one thread uses it.
    private final class FailingStore: PeopleStore, @unchecked Sendable {
        let base: any PeopleStore
        var fails = false
        /// Is `true` for a failure after which everything is written all the same.
        var writesAllTheSame = false
        private var written: LogPosition?
        init(_ base: any PeopleStore) { self.base = base }
        // As of a store that has not read what a failed call has written.
        var position: LogPosition { written.map { $0 - 1 } ?? base.position }
        var nextSerial: UInt64 { base.nextSerial }
        func card(_ key: CardKey) throws(LogError) -> Card? { try base.card(key) }
        func count(slice: Int) throws(LogError) -> Int { try base.count(slice: slice) }
        func apply(_ changes: [PeopleChange], upTo position: LogPosition) throws(LogError) {
            defer { written = fails && writesAllTheSame ? position : nil }
            if fails, !writesAllTheSame { throw LogError("the disk is full") }
            if written != position { try base.apply(changes, upTo: position) }
            if fails { throw LogError("the disk is full") }
        }
        func read(
            slice: Int, from serial: UInt64,
            _ body: (CardKey, Result<Card, SerialError>) throws(LogError) -> Bool
        ) throws(LogError) { try base.read(slice: slice, from: serial, body) }
    }

    /// Batches of any size end as single entries do, on disk and over restarts, whatever fails meanwhile.
    @Test(arguments: [UInt64(1), 2, 3]) func batchesOnDiskEndAsSingleEntriesInMemory(seed: UInt64) throws {
        let folder = NSTemporaryDirectory() + "fanfare-register-\(UUID())"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var random = SplitMix64(seed: seed)
        let memory = MemoryPeopleStore()
        let single = PeopleRegister(memory)
        for _ in 0..<6 {
            let disk = FailingStore(try LMDBPeopleStore(store: folder, mapSize: .mebibytes(1)))
            let register = PeopleRegister(disk)
            try register.load { _ in true }
            for _ in 0..<10 {
                let entries = (0..<Int.random(in: 1...40, using: &random)).map { _ in Self.entry(&random) }
                disk.fails = random.chance(0.3)
                if disk.fails { #expect(throws: LogError.self) { try register.apply(entries) } }
                disk.fails = false
                try register.apply(entries)
                var kept: [Bool] = []
                for entry in entries {
                    try single.apply([entry])
                    kept += single.kept
                }
                #expect(register.kept == kept)
            }
            #expect(try Self.loaded(disk) == Self.loaded(memory), "seed \(seed)")
            register.close()
        }
        #expect(try !Self.loaded(memory).isEmpty)
    }

    /// A removal at the start that was written all the same must not make the calls behind it count as written.
    @Test func callsBehindAFailedRemovalAreWritten() throws {
        let disk = FailingStore(MemoryPeopleStore())
        try disk.apply([.insert(Self.card("old", [1]))])
        let register = PeopleRegister(disk)
        var rows: [(key: CardKey, card: Card)] = []
        try register.load { row in
            if case .success((let key, let card)) = row { rows.append((key, card)) }
            return true
        }
        (disk.fails, disk.writesAllTheSame) = (true, true)
        #expect(throws: LogError.self) { try register.remove(rows) }
        disk.fails = false
        try register.apply([.follow(Self.card("new", [2]))])
        #expect(try Self.loaded(disk).values.map(\.activity) == ["new"])
    }

    private static func entry(_ random: inout SplitMix64) -> PeopleEntry {
        let name = "card \(Int.random(in: 0..<30, using: &random))"
        let token = [UInt8.random(in: 0..<4, using: &random)]
        let id = ActivityID(name)
        let subscriber = "s\(Int.random(in: 0..<5, using: &random))"
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return .move(id, .topic(TopicID("m/\(token[0])")))
        case 1: return .replaceToken(id, token)
        case 2: return .setPreferences(id, Preferences(alerts: .essential))
        case 3: return .unfollow(id)
        case 4: return .removed(id.rawValue, token: token.keyedHash)
        case 5:
            var start = card(name, token, subscriber: subscriber)
            start.phase = .starting
            return .start(start)
        default: return .follow(card(name, token, subscriber: subscriber))
        }
    }
}
