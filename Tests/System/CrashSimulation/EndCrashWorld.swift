import Fanfare
import FanfareDecisions
import FanfareFanOut
import FanfareLog
import FanfareModel
import FanfareTestSupport

/// An engine in one thread that dies again and again while topics end and begin again under their ids, and whose store keeps what was synced. After
/// each calm, whoever follows a topic shows what it does, no end is lost, and nothing follows an end that was accepted.
final class EndCrashWorld: MortalWorld, PlayedWorld {
    private struct Phone {
        let id: ActivityID
        let subscriber: UInt64
        /// Is `true` if all its pushes fail.
        let isSick: Bool
        var tokens: [[UInt8]]
        var state: [UInt8] = []
        /// Is `true` once an end has arrived.
        var isEnded = false
        /// Life in which an end was accepted.
        var endedIn: Int?
        /// Is `true` once it has followed again under its token, maybe while its end was accepted: that makes another activity of it.
        var hasFollowedAgain = false
        /// Is `true` once people were told that it is over, because it followed again while its end was on its way. If that does not arrive, it stays with
        /// its topic.
        var isToldOver = false
        /// Is `true` once the store had its card.
        var wasKept = false
    }

    private var lives = 0
    private var phones: [Phone] = []
    private var byToken: [[UInt8]: Int] = [:]
    private var sequence = 0
    /// Is `true` from a lull to the end of the life.
    private var isDying = false
    private(set) var met = Met()

    /// Counts of situations that the lives have met, so that a test can tell that its worlds are worth anything.
    struct Met {
        /// Ends that arrived, and topics that began again.
        var ends = 0, tenures = 0
        /// Moves and follows of cards whose ends were in flight.
        var beside = 0
        /// Checks that found a phone to show its topic's state.
        var shown = 0
        /// Pushes with ends of earlier lives, whose dismissals were checked.
        var dismissals = 0

        static func += (sum: inout Met, more: Met) {
            sum.ends += more.ends
            sum.tenures += more.tenures
            sum.beside += more.beside
            sum.shown += more.shown
            sum.dismissals += more.dismissals
        }
    }

    /// Log time of each end of a topic in the log at the beginning of the life, by its number, and of the log's last entry.
    private var ends: [Int: FeedTime] = [:]
    private var logEnd = FeedTime(milliseconds: 0)
    /// True time at the beginning of the life.
    private var begunAt = FeedTime(milliseconds: 0)
    /// Time for which an ended card stays.
    private static let dismissal = Duration.seconds(900)

    private static let topics = (0..<3).map { TopicID("topic/\($0)") }

    /// - Parameter tears: `true` if a crash may leave the beginning of the last write.
    init(seed: UInt64, tears: Bool = false) {
        super.init(SplitMix64(seed: seed), tearing: tears ? seed : nil)
        build.reopens = random.chance(0.7) ? .afresh : .resumed
        // No night ends a topic.
        build.endsAfterSilence = .seconds(1000 * 86_400)
        build.dismissal = .after(Self.dismissal)
        for _ in 0..<Int.random(in: 3...20, using: &random) {
            do { try disk.people.apply([.insert(newCard())]) } catch { complain("a card is refused: \(error)") }
        }
    }

    private func newCard() -> Card {
        let number = phones.count
        let isNamed = random.chance(0.5)
        let card = Card(
            subscriber: isNamed ? "person \(number)" : nil, activity: isNamed ? "phone \(number)" : nil,
            token: [UInt8(number & 255), UInt8(number >> 8), 0],
            audience: .topic(Self.topics.randomElement(using: &random)!), startedAt: clock.truth)
        byToken[card.token] = number
        phones.append(
            Phone(
                id: card.id, subscriber: card.subscription().subscriber, isSick: random.chance(0.05),
                tokens: [card.token]))
        return card
    }

    /// - Returns: what is wrong.
    func play(lives count: Int) -> String? {
        do {
            for _ in 0..<count {
                try begin()
                // Nothing heals what the restart has left out.
                if isDying || random.chance(0.3) { calm() }
                isDying = false
                for _ in 0..<Int.random(in: 20...300, using: &random) where violation == nil && !isDying { step() }
                if violation == nil, !isDying, random.chance(0.2) { calm() }
                // Killed here: what the core and the shards knew is gone.
            }
            try begin()
            if violation == nil { calm() }
        } catch { complain("a restart fails: \(error)") }
        return violation
    }

    private func begin() throws {
        lives += 1
        crash()
        clock.pass(.milliseconds(Int.random(in: 1...5000, using: &random)))
        // Pushes in flight have arrived or not.
        for push in drawArrivals() { show(push) }
        noteEnds()
        let life = try beginLife()
        tell("life \(lives) with \(life.nodes.count) shards")
        life.onFate = { [unowned self] fate, id in
            guard case .ended = fate, let index = phones.firstIndex(where: { $0.id == id }) else { return }
            phones[index].isToldOver = true
        }
        for node in life.nodes {
            node.network.onPush = { [unowned self] in judge($0) }
            node.network.onAnswer = { [unowned self] in note($1, to: $0) }
        }
    }

    private func judge(_ push: WorldNetwork.Flight) {
        guard let index = byToken[push.token] else { return complain("a push to nobody") }
        tell("\(push.event) to phone \(index): \(String(decoding: push.state, as: UTF8.self))")
        if phones[index].endedIn == lives, !phones[index].hasFollowedAgain {
            complain("phone \(index) gets a push after its end")
        }
        judgeDismissal(push, of: index)
    }

    /// Reads the log as the life that begins finds it.
    private func noteEnds() {
        begunAt = clock.truth
        try? disk.log.read(from: 1) { _, entry in
            logEnd = entry.now
            guard case .event(let event, _) = entry.body, event.lifecycle == .end, let id = event.id,
                let number = Int(id)
            else { return true }
            ends[number] = entry.now
            return true
        }
    }

    /// Checks that the card of a topic which ended in an earlier life stays for what the log says to be left of its time: neither anew for all of it, nor
    /// for less. Of a topic that begins again, the time of this life until then counts as well, by log time, which makes up a sixteenth of what it lacks.
    /// Two seconds are those of rounding.
    private func judgeDismissal(_ push: WorldNetwork.Flight, of index: Int) {
        let text = String(decoding: push.state, as: UTF8.self)
        guard push.event == .end,
            let place = text.firstRange(of: "\"number\":")?.upperBound,
            let number = Int(text[place...].prefix { $0.isNumber }), let ended = ends[number]
        else { return }
        guard let date = push.dismissalDate.map({ FeedTime(seconds: $0) }) else {
            return complain("phone \(index) has been over since \(ended), and gets no date")
        }
        met.dismissals += 1
        let left = max(.zero, Self.dismissal - max(.zero, logEnd - ended))
        let lived = clock.truth - begunAt
        let earliest = begunAt + (left - .seconds(2) - lived / 16)
        guard date < earliest || clock.truth + left + .seconds(2) < date else { return }
        complain("phone \(index) has been over since \(ended), and stays until \(date)")
    }

    private func note(_ outcome: DeliveryOutcome, to push: WorldNetwork.Flight) {
        guard let index = byToken[push.token] else { return }
        tell("phone \(index): \(outcome)")
        if outcome == .accepted || outcome == .uncertain && random.chance(0.5) { show(push) }
        if outcome == .accepted, push.event == .end { phones[index].endedIn = lives }
    }

    private func show(_ push: WorldNetwork.Flight) {
        guard let index = byToken[push.token], !phones[index].isEnded else { return }
        phones[index].state = push.state
        guard push.event == .end else { return }
        phones[index].isEnded = true
        met.ends += 1
    }

    private func step() {
        guard let life else { return }
        counts[.steps] += 1
        switch random.next() % 20 {
        case 0, 1: random.chance(0.5) ? happen() : change()
        case 2..<5: _ = life.runCore()
        // Each part of the store has a thread of its own.
        case 5..<7: _ = sync(CrashDisk.Part.allCases.filter { _ in random.chance(0.6) })
        case 7: clock.pass(.milliseconds(Int.random(in: 1...300, using: &random)))
        case 8..<14: _ = life.nodes.randomElement(using: &random)!.run()
        default:
            let node = life.nodes.randomElement(using: &random)!
            answer(node, drawOutcome())
        }
    }

    private func answer(_ node: WorldNode, _ outcome: DeliveryOutcome) {
        guard let push = node.network.flights.first else { return }
        let isSick = byToken[push.token].map { phones[$0].isSick } ?? false
        node.answer(0, isSick ? .serviceError : outcome)
    }

    /// Changes a topic, ends it, or begins it again.
    private func happen() {
        guard let life else { return }
        if random.chance(0.8) { clock.pass(.milliseconds(1)) }
        sequence += 1
        let topic = Self.topics.randomElement(using: &random)!
        let isOver = life.core.state(of: topic)?.isEnded ?? false
        let lifecycle: FeedEvent.Lifecycle? = isOver ? .start : random.chance(0.3) ? .end : nil
        let event = FeedEvent(
            topic: topic, topicKind: .generic, at: clock.truth, id: "\(sequence)", kind: "number",
            lifecycle: lifecycle, change: .patch(["number": .int(Int64(sequence))]))
        guard post(.event(event)) else { return }
        if isOver { met.tenures += 1 }
        tell("event \(sequence) of \(topic)\(lifecycle.map { ", its \($0)" } ?? "")")
    }

    /// Follows, moves, ends, or replaces the token of a card.
    private func change() {
        let ending = life?.nodes.flatMap { $0.network.flights.filter { $0.event == .end } } ?? []
        let isBeside = !ending.isEmpty && random.chance(0.5)
        guard random.chance(0.8),
            let index = isBeside ? byToken[ending[0].token] : phones.indices.randomElement(using: &random),
            !phones[index].isEnded
        else { return follow() }
        let phone = phones[index]
        let topic = AudienceKey.topic(Self.topics.randomElement(using: &random)!)
        if isBeside { met.beside += 1 }
        defer { if isBeside, random.chance(0.2) { lull() } }
        func send(_ entry: PeopleEntry, _ command: ShardCommand) -> Bool {
            post(.person(entry, .command(command, subscriber: phone.subscriber, app: 0), nil))
        }
        switch random.next() % 8 {
        case 0..<4:
            if send(.move(phone.id, topic), .move(phone.id, topic)) { tell("phone \(index) moves to \(topic)") }
        case 4, 5:
            guard phone.id.text != nil else { return }
            // The app follows again under its token, because it has lost track.
            let card = Card(
                subscriber: "person \(index)", activity: "phone \(index)", token: phone.tokens.last!, audience: topic,
                startedAt: clock.truth)
            if post(.person(.follow(card), .follow(card.subscription(), app: 0), nil)) {
                tell("phone \(index) follows \(topic) again")
                phones[index].hasFollowedAgain = true
            }
        case 6:
            if send(.unfollow(phone.id), .unfollow(phone.id)) { tell("phone \(index) is unfollowed") }
        default:
            let token = [UInt8(index & 255), UInt8(index >> 8), UInt8(phone.tokens.count)]
            guard phone.id.text != nil, send(.replaceToken(phone.id, token), .replaceToken(phone.id, token: token))
            else { return }
            tell("phone \(index) has another token")
            byToken[token] = index
            phones[index].tokens.append(token)
        }
    }

    /// Lets everything arrive but ends, so that the store notes who has what, before the engine dies.
    private func lull() {
        guard let life else { return }
        tell("a lull")
        for _ in 0..<60 {
            while life.runCore() || sync() {}
            for node in life.nodes {
                _ = node.run()
                while let index = node.network.flights.firstIndex(where: { $0.event != .end }) {
                    node.answer(index, .accepted)
                }
            }
            clock.pass(.milliseconds(10))
        }
        isDying = true
    }

    private func follow() {
        guard phones.count < 200 else { return }
        let card = newCard()
        tell("phone \(phones.count - 1) follows \(card.audience)")
        _ = post(.person(.follow(card), .follow(card.subscription(), app: 0), nil))
    }

    /// Lets everything arrive, and checks who has what.
    private func calm() {
        guard let life else { return }
        tell("a calm")
        life.settle(clock, patience: 130, keeping: 100, sync: { sync() }, answer: { answer($0, .accepted) })
        if let broken = life.violation { complain(broken) }
        judgeCards()
    }

    private func judgeCards() {
        let ends = endTimes()
        var kept: Set<Int> = []
        try? disk.people.read { (_, row) throws(LogError) in
            guard case .success(let card) = row, let index = byToken[card.token] else { return true }
            kept.insert(index)
            judge(card, of: index, ends)
            return true
        }
        for index in phones.indices {
            if kept.contains(index) {
                phones[index].wasKept = true
            } else if phones[index].wasKept, !phones[index].isEnded, phones[index].endedIn == nil {
                complain("phone \(index) has had no end, and its row is gone")
            }
        }
    }

    private func judge(_ card: Card, of index: Int, _ ends: [TopicID: FeedTime]) {
        let phone = phones[index]
        guard !phone.isSick else { return }
        // The row of a card whose token was replaced while its end was accepted goes with the next life.
        if phone.endedIn == lives, !phone.hasFollowedAgain, phone.tokens.count == 1 {
            complain("phone \(index) has its end, and its row stays")
        }
        if card.phase == .leaving, phone.tokens.count == 1 {
            complain("phone \(index) was unfollowed, and has not ended")
        }
        // An end that arrived when the engine died is known to nobody.
        guard !phone.isEnded, card.phase == .shown, let state = life?.core.state(of: card.audience.topics[0]) else {
            return
        }
        let topic = card.audience.topics[0]
        guard !state.isEnded else {
            guard !phone.isToldOver, let end = ends[topic], card.joinedAt.map({ $0 < end }) ?? true else { return }
            return complain("phone \(index) joined \(topic) before its end, and lacks that")
        }
        // A card that is followed again during its end is told to be over, and stays with its topic if that goes on and the end does not arrive.
        guard !phone.hasFollowedAgain || build.reopens == .afresh,
            case .int(let number)? = state.contentState?["number"]
        else { return }
        let shown = String(decoding: phone.state, as: UTF8.self)
        guard shown.contains("\"number\":\(number),") || shown.contains("\"number\":\(number)}") else {
            return complain("phone \(index) shows \(shown), and \(topic) number \(number)")
        }
        met.shown += 1
    }

    /// Log time of the last end of each topic; one that has ended already does not end again.
    private func endTimes() -> [TopicID: FeedTime] {
        var ends: [TopicID: FeedTime] = [:]
        var live: Set<TopicID> = []
        try? disk.log.read(from: 1) { _, entry in
            guard case .event(let event, _) = entry.body else { return true }
            if event.lifecycle != .end {
                if event.lifecycle == .start || build.reopens == .resumed || ends[event.topic] == nil {
                    live.insert(event.topic)
                }
            } else if live.remove(event.topic) != nil || ends[event.topic] == nil {
                ends[event.topic] = entry.now
            }
            return true
        }
        return ends
    }
}
