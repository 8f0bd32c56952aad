import Fanfare
import FanfareFanOut
import FanfareLog
import FanfareModel
import FanfareTestSupport

/// An engine in one thread that dies again and again while cards are to be started, and whose store keeps what was synced. No start leaves twice
/// in all its lives; each one that was acknowledged leaves, or a later life says that it may have.
final class StartCrashWorld: MortalWorld, PlayedWorld {
    private final class Card {
        let number: Int
        /// Topics that it may show: a crash may have lost a move.
        var topics: Set<TopicID>
        /// Start tokens that the backend has handed in.
        var tokens: [[UInt8]]
        /// Is `true` once the start is durable; changed by the caller's acknowledgement.
        let isAcknowledged = Flag()
        let askedAt: FeedTime
        /// Life in which its start was handed in last.
        var bornIn: Int?
        /// Lives in which its start has left.
        var left: [Int] = []
        var leftAt: FeedTime?
        /// Numbers of times that the start was handed in and that it has left.
        var asked = 0, sent = 0
        /// Lives that have given it up.
        var givenUp: [Int] = []
        /// Is `true` once its end was asked for, or its app was to report a token.
        var isOver = false
        /// Is set once its end is durable.
        let isGone = Flag()
        /// Life in which its end was asked for.
        var goneIn: Int?
        /// Is `true` once a shard has said that it does not start it.
        var hasFailed = false

        init(_ number: Int, _ topic: TopicID, _ token: [UInt8], at now: FeedTime) {
            (self.number, topics, tokens, askedAt) = (number, [topic], [token], now)
        }

        var id: ActivityID { ActivityID("card \(number)") }
    }

    private var lives = 0
    private var cards: [Card] = []
    private var sequence = 0
    /// Topics of which an event was handed in.
    private var happened: Set<TopicID> = []
    private(set) var met = Met()

    /// Counts of situations that the lives have met, so that a test can tell that its worlds are worth anything.
    struct Met {
        /// Starts that left, and those of them that left in a later life.
        var left = 0, leftLater = 0
        /// Starts that were given up, and those of them that had not left.
        var givenUp = 0, lost = 0
        /// Starts that were given up because claims were lost.
        var unknown = 0
        /// Starts that had waited for half a day when an operator pruned the store.
        var waited = 0
        var maintenance = StoreMaintenance.Met()

        static func += (sum: inout Met, more: Met) {
            sum.left += more.left
            sum.leftLater += more.leftLater
            sum.givenUp += more.givenUp
            sum.lost += more.lost
            sum.unknown += more.unknown
            sum.waited += more.waited
            sum.maintenance += more.maintenance
        }
    }

    /// Is `true` while nobody knows which starts of earlier lives have left.
    private var hasLostClaims = false

    private static let topics = (0..<4).map { TopicID("topic/\($0)") }
    private static let subscriber = SubscriberID("anna")

    /// Work of an operator between two lives; `nil` without an operator.
    private var maintenance: StoreMaintenance?

    /// - Parameters:
    ///   - isKeptUp: `true` if hours pass between two lives, in which an operator prunes the store and trims its log.
    ///   - tears: `true` if a crash may leave the beginning of the last write.
    init(seed: UInt64, isKeptUp: Bool = false, tears: Bool = false) {
        if isKeptUp { maintenance = StoreMaintenance(seed: seed) }
        super.init(SplitMix64(seed: seed), tearing: tears ? seed : nil)
        // No night ends a topic.
        build.endsAfterSilence = .seconds(1000 * 86_400)
    }

    /// - Returns: what is wrong.
    func play(lives count: Int) -> String? {
        do {
            for _ in 0..<count {
                try begin()
                // Some lives end while their cards are loaded.
                let steps = random.chance(0.3) ? 3...30 : 20...300
                for _ in 0..<Int.random(in: steps, using: &random) where violation == nil { step() }
                if violation == nil, random.chance(0.2) { calm() }
                // Killed here: what the core and the shards knew is gone.
            }
            try begin()
            for topic in Self.topics { happen(in: topic) }
            if violation == nil { calm() }
        } catch { complain("a restart fails: \(error)") }
        met.maintenance = maintenance?.met ?? met.maintenance
        met.left = cards.count { !$0.left.isEmpty }
        met.givenUp = cards.count { !$0.givenUp.isEmpty }
        met.lost = cards.count { !$0.givenUp.isEmpty && $0.left.isEmpty }
        return violation
    }

    private func begin() throws {
        lives += 1
        crash()
        if random.chance(0.3) { disk.loseClaims() }
        if lives > 1 { try keepUp() }
        clock.pass(.milliseconds(Int.random(in: 1...5000, using: &random)))
        let life = try beginLife()
        // So it is also after a life that has died before all was told that it did not know.
        hasLostClaims = !life.knowsStarts
        tell("life \(lives) with \(life.nodes.count) shards")
        life.onGivenUp = { [unowned self] in giveUp($0.id) }
        life.onFate = { [unowned self] fate, id in
            tell("\(id.text ?? ""): \(fate)")
            if case .expired = fate, let at = card(id)?.leftAt, clock.truth - at < .seconds(7 * 3600) {
                complain(
                    "card \(id.text ?? "") is over \((clock.truth - at).components.seconds) s after its start left")
            }
            if case .notStarted(let failure) = fate {
                card(id)?.hasFailed = true
                // A call that came before this life gave the card up is told once more.
                let isTold = failure == .uncertain && card(id)?.givenUp.isEmpty == false
                if card(id)?.isOver == false, !isTold { complain("the start of \(id.text ?? "") fails: \(failure)") }
            }
        }
        for node in life.nodes {
            node.network.onPush = { [unowned self] in judge($0) }
            node.network.onAnswer = { [unowned self] push, outcome in
                guard push.event == .start, outcome == .notProcessed else { return }
                // It certainly made no card, and leaves again.
                guard let card = cards.first(where: { $0.tokens.contains(push.token) }) else { return }
                _ = card.left.popLast()
                card.sent -= 1
            }
        }
    }

    /// Lets an operator work on the store. Each acknowledged start that may still leave keeps its row for seven days.
    private func keepUp() throws {
        guard let outage = maintenance?.outage(hours: 13...20) else { return }
        clock.pass(outage)
        try maintenance?.trim(disk.log)
        guard try maintenance?.prune(disk.people, at: clock.truth) == true else { return }
        tell("a pruning")
        var kept: Set<String> = []
        try disk.people.read { (_, found) throws(LogError) in
            if case .success(let row) = found, let activity = row.activity { kept.insert(activity) }
            return true
        }
        for card in cards
        where card.isAcknowledged.isSet && card.left.isEmpty && card.givenUp.isEmpty && !card.isOver && !card.hasFailed
        {
            let waited = clock.truth - card.askedAt
            guard waited < StartRequest.patience else { continue }
            if waited > .seconds(12 * 3600) { met.waited += 1 }
            if !kept.contains("card \(card.number)") {
                complain("the row of card \(card.number) is gone, whose start waits")
            }
        }
    }

    private func card(_ id: ActivityID) -> Card? { cards.first { $0.id == id } }

    private func giveUp(_ id: ActivityID) {
        guard let card = card(id) else { return complain("\(id.text ?? "") is given up, and nobody has started it") }
        tell("\(id.text ?? "") is given up")
        card.givenUp.append(lives)
        if hasLostClaims { met.unknown += 1 }
        // A start that was given up before stays so until its row is removed.
        if card.topics.isDisjoint(with: happened), !hasLostClaims, card.givenUp.count == 1 {
            complain("card \(card.number) is given up in life \(lives), although nothing could be shown")
        }
    }

    private func judge(_ push: WorldNetwork.Flight) {
        guard push.event == .start else { return }
        guard let card = cards.first(where: { $0.tokens.contains(push.token) }) else {
            return complain("a start for nobody")
        }
        tell("the start of card \(card.number) leaves")
        // A card without a token is over after eight hours, and may be started anew.
        if card.asked > card.sent, let at = card.leftAt, clock.truth - at >= .seconds(7 * 3600) { card.left = [] }
        card.left.append(lives)
        card.leftAt = clock.truth
        card.sent += 1
        if card.left.count > 1 { complain("card \(card.number) is started in lives \(card.left)") }
        if card.isGone.isSet, let gone = card.goneIn, gone < lives {
            complain("card \(card.number) is started in life \(lives), and was unfollowed in life \(gone)")
        }
        if let first = card.givenUp.first {
            complain("card \(card.number) is started after life \(first) has given it up")
        }
        if let born = card.bornIn, born < lives { met.leftLater += 1 }
    }

    private func step() {
        guard let life else { return }
        counts[.steps] += 1
        switch random.next() % 20 {
        case 0: start()
        case 1: change()
        case 2: if random.chance(0.3) { happen(in: Self.topics.randomElement(using: &random)!) }
        case 3..<7: _ = life.runCore()
        // Each part of the store has a thread of its own.
        case 7..<9: _ = sync(CrashDisk.Part.allCases.filter { _ in random.chance(0.6) })
        case 9:
            // A night without an entry, now and then: claims are kept for a day.
            let isNight = random.chance(0.05)
            clock.pass(isNight ? .seconds(Int.random(in: 5...30, using: &random) * 3600) : .milliseconds(100))
        case 10..<15: _ = life.nodes.randomElement(using: &random)!.run()
        default:
            let node = life.nodes.randomElement(using: &random)!
            let outcomes: [DeliveryOutcome] = [.accepted, .accepted, .accepted, .uncertain, .notProcessed]
            if !node.network.flights.isEmpty { node.answer(0, outcomes.randomElement(using: &random)!) }
        }
    }

    private func command(_ command: ShardCommand) -> CoreRequest {
        .command(command, subscriber: Self.subscriber.rawValue.utf8.keyedHash, app: 0)
    }

    private func request(_ card: Card, token: [UInt8]) -> StartRequest {
        StartRequest(
            activity: "card \(card.number)", token: token, attributesType: "Match",
            alert: AlertText(title: "Kick-off", body: ""))
    }

    /// Hands in the start of a card, of a new one or once more.
    private func start() {
        let isRepeat = random.chance(0.2) && !cards.isEmpty
        let number = isRepeat ? Int.random(in: 0..<cards.count, using: &random) : cards.count
        let token = [UInt8(number & 255), UInt8(number >> 8), UInt8(random.next() % 3)]
        let topic = Self.topics.randomElement(using: &random)!
        let card = isRepeat ? cards[number] : Card(number, topic, token, at: clock.truth)
        // A backend does not start a card again that has gone.
        guard !card.isOver, !card.hasFailed, card.givenUp.isEmpty else { return }
        let start = request(card, token: token)
        var row = FanfareLog.Card(
            subscriber: Self.subscriber.rawValue, activity: start.activity, token: token, audience: .topic(topic),
            startedAt: clock.truth)
        (row.phase, row.request) = (.starting, start)
        let flag = card.isAcknowledged
        let isTaken = post(
            .person(.start(row), command(.start(start, .topic(topic)))) { isKept in
                if isKept == true { flag.set() }
            })
        guard isTaken else { return }
        tell("card \(card.number) is to be started in \(topic)\(isRepeat ? ", once more" : "")")
        card.bornIn = lives
        card.asked += 1
        card.topics.insert(topic)
        card.tokens.append(token)
        if !isRepeat { cards.append(card) }
    }

    /// Moves a card, ends it, or reports its token.
    private func change() {
        guard let card = cards.randomElement(using: &random), card.givenUp.isEmpty, !card.hasFailed else { return }
        switch random.next() % 4 {
        case 0, 1:
            let topic = Self.topics.randomElement(using: &random)!
            guard post(.person(.move(card.id, .topic(topic)), command(.move(card.id, .topic(topic))), nil)) else {
                return
            }
            tell("card \(card.number) moves to \(topic)")
            card.topics.insert(topic)
        case 2:
            let flag = card.isGone
            let isTaken = post(
                .person(.unfollow(card.id), command(.unfollow(card.id))) { isKept in
                    if isKept == true { flag.set() }
                })
            guard isTaken else { return }
            tell("card \(card.number) is unfollowed")
            (card.isOver, card.goneIn) = (true, lives)
        default:
            guard !card.left.isEmpty else { return }
            let token: [UInt8] = [UInt8(card.number & 255), UInt8(card.number >> 8), 77, 77]
            let entry = PeopleEntry.replaceToken(card.id, token, shownAt: clock.truth)
            guard post(.person(entry, command(.replaceToken(card.id, token: token)), nil)) else { return }
            tell("card \(card.number) reports its token")
            card.isOver = true
        }
    }

    private func happen(in topic: TopicID) {
        clock.pass(.milliseconds(1))
        sequence += 1
        let event = FeedEvent(
            topic: topic, topicKind: .generic, at: clock.truth, id: "\(sequence)", kind: "number",
            change: .patch(["number": .int(Int64(sequence))]))
        guard post(.event(event)) else { return }
        happened.insert(topic)
        tell("event \(sequence) of \(topic)")
    }

    /// Lets everything arrive. Then each acknowledged start has left whose topic has something to show, if no life has given it up.
    private func calm() {
        guard let life else { return }
        tell("a calm")
        life.settle(clock, patience: 20, sync: { sync() })
        if let broken = life.violation { complain(broken) }
        for card in cards where card.isAcknowledged.isSet && !card.isOver && card.left.isEmpty && card.givenUp.isEmpty {
            guard card.topics.allSatisfy({ life.core.state(of: $0)?.contentState != nil }) else { continue }
            complain("the start of card \(card.number) was acknowledged in life \(card.bornIn ?? 0), and has not left")
        }
    }
}
