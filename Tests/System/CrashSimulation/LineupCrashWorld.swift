import Fanfare
import FanfareFanOut
import FanfareLog
import FanfareModel
import FanfareTestSupport

/// An engine in one thread that dies or is stopped again and again while the topics of lineups end, and people change their lineups and favourites.
/// Minutes pass, also between two lives, so rows are dismissed in each of them. The rows of each lineup follow its topics, no row comes back after its
/// dismissal, the spotlight rests on the favourite after each calm, no alert comes twice, no end is lost, and the store has each selection that it has
/// acknowledged. Outages do not count for a dismissal, so a row that went may come back after a restart.
final class LineupCrashWorld: MortalWorld, PlayedWorld {
    /// A lineup that a person has selected.
    struct Selection {
        let audience: AudienceKey
        /// Is set once the selection is durable.
        let isKept = Flag()
    }

    struct Phone {
        let id: ActivityID
        let subscriber: UInt64
        /// The first selection comes with the card. A crash may lose those after the last one that the store has acknowledged.
        var selections: [Selection]
        var state: [UInt8] = []
        /// Alerts that have arrived, in all lives. They never leave without a claim, because the disk does not stall.
        var alerts: Set<String> = []
        /// Dismissed topics of which the card has no row any more.
        var gone: Set<TopicID> = []
        /// Is `true` once the store had its card.
        var wasKept = false
        /// Is `true` once the lineup's end has left, in any life.
        var endHasLeft = false
        /// Is `true` once the lineup's end has arrived.
        var isOver = false
        /// Is `true` once the lineup's end was accepted in this life. The next one may find its row, and sends it the end again.
        var hasEnded = false
        /// Number of pushes that have left in this life.
        var pushes = 0

        /// Is `true` if the card has shown one lineup only. The newest version of another lineup may have a row that its rotation has not removed yet.
        var isSettled: Bool { selections.count == 1 }
    }

    /// What worlds of lineups meet, so that a test can tell that its worlds are worth anything.
    enum Occurrence: Int, CaseIterable, Sendable {
        /// Ends of topics, and selections that a death found acknowledged.
        case ends, keptSelections
        /// Rows of live topics, and of topics that are over and not dismissed, that a calm found on a card.
        case liveRows, endedRows
        /// Rows that had left a card by a calm, and those of topics that were dismissed before the present life.
        case goneRows, goneBefore
        /// Spotlights that a calm found on the favourite.
        case favourites
        case stops
    }

    /// Time by which a shard takes a publication after its event, and a phone its push, while the engine has work.
    static let slack = Duration.seconds(30)
    /// Rule by which ended topics are dismissed.
    let rule: Dismissal
    var phones: [Phone] = []
    var byToken: [[UInt8]: Int] = [:]
    var logged = LoggedTopics()
    var met = WorldCounts<Occurrence>()
    /// Times at which the recall of the present life was over.
    private(set) var recall = RecallTimes(truth: ManualClock.start, log: ManualClock.start)
    /// Number of the last event before the present life.
    private(set) var before = 0
    /// Lineups that showed everything when the last life ended, as far as nothing has happened since.
    private(set) var rested: Set<Int> = []
    /// Is `true` while nothing has happened since a calm.
    private var isResting = false
    private var topics: [TopicID] = []
    /// Topics of which an event, or the end, was handed in.
    private var happened: Set<TopicID> = []
    private var ended: Set<TopicID> = []
    private var sequence = 0

    /// Number of topics that go on at a time.
    private static let liveTopics = 4

    /// - Parameter tears: `true` if a crash may leave the beginning of the last write.
    init(seed: UInt64, tears: Bool = false) {
        var random = SplitMix64(seed: seed)
        rule =
            switch seed % 4 {
            case 0: .immediate
            case 1: .after(.seconds(Int.random(in: 60...900, using: &random)))
            case 2: .proportional
            default: .at(ManualClock.start + .seconds(Int.random(in: 300...3600, using: &random)))
            }
        super.init(random, tearing: tears ? seed : nil)
        build.dismissal = rule
        // No silence ends a topic.
        build.endsAfterSilence = .seconds(1000 * 86_400)
        switch seed % 5 {
        case 1: build.lineups.round = .seconds(30)
        case 2: build.lineups.order = .schedule
        default: break
        }
        if seed % 3 < 2 {
            // A pass takes many turns, and a search several passes.
            build.completionLimits = CompletionLimits(visitsMax: 2 + Int(seed % 3) * 4, topicsMax: 1 + Int(seed % 2))
        }
        addTopics()
        for _ in 0..<Int.random(in: 5...25, using: &self.random) {
            do { try disk.people.apply([.insert(newCard())]) } catch { complain("a card is refused: \(error)") }
        }
    }

    private var liveTopics: [TopicID] { topics.filter { !ended.contains($0) } }

    private func addTopics() {
        while liveTopics.count < Self.liveTopics { topics.append(TopicID("topic/\(topics.count)")) }
    }

    /// Draws a lineup of topics that go on. Some people select the same one.
    private func drawLineup() -> AudienceKey {
        let live = liveTopics
        guard random.chance(0.7) else { return .lineup(Array(live.prefix(3)), favourite: live[1]) }
        let picks = Array(live.shuffled(using: &random).prefix(random.chance(0.5) ? 2 : 3))
        return .lineup(picks, favourite: random.chance(0.6) ? picks.randomElement(using: &random) : nil)
    }

    private func newCard() -> Card {
        let number = phones.count
        let name = "phone \(number)"
        let card = Card(
            subscriber: name, activity: name, token: [UInt8(number & 255), UInt8(number >> 8), 3],
            audience: drawLineup(), startedAt: clock.truth)
        byToken[card.token] = number
        phones.append(
            Phone(
                id: card.id, subscriber: card.subscription().subscriber,
                selections: [Selection(audience: card.audience)]))
        return card
    }

    /// - Returns: what is wrong.
    func play(lives count: Int) -> String? {
        do {
            for _ in 0..<count {
                try begin()
                // Nothing heals what the restart has left out.
                if random.chance(0.3) { calm() }
                for _ in 0..<Int.random(in: 20...300, using: &random) where violation == nil { step() }
                if violation == nil, random.chance(0.5) {
                    calm()
                    if violation == nil, random.chance(0.4) { stop() }
                }
                // Killed here, unless it was stopped: what the core and the shards knew is gone.
            }
            try begin()
            if violation == nil { calm() }
        } catch { complain("a restart fails: \(error)") }
        return violation
    }

    private func begin() throws {
        crash()
        let outage = random.chance(0.4) ? 60_000...900_000 : 1...5000
        clock.pass(.milliseconds(Int.random(in: outage, using: &random)))
        logged.read(disk.log)
        // A crash may have lost an end, and the topic goes on.
        ended = Set(logged.endedAt.keys)
        // Pushes in flight have arrived or not.
        for push in drawArrivals() { show(push) }
        judgeSelections()
        met[.keptSelections] += phones.count { $0.selections.dropFirst().contains { $0.isKept.isSet } }
        rested = isResting ? Set(phones.indices.filter { !phones[$0].endHasLeft && !phones[$0].state.isEmpty }) : []
        for index in phones.indices { (phones[index].pushes, phones[index].hasEnded) = (0, false) }
        before = sequence
        let life = try beginLife()
        // Log time begins with the first life's clock.
        let log = life.core.now > FeedTime.plausible.lowerBound ? life.core.now : clock.truth
        recall = RecallTimes(truth: clock.truth, log: log)
        // Log time does not count an outage, so that a row may come back for what is left.
        for index in phones.indices { phones[index].gone = phones[index].gone.filter { wasDismissed($0) } }
        tell("a life with \(life.nodes.count) shards, dismissals \(rule), log to \(disk.log.end)")
        for node in life.nodes {
            node.network.onPush = { [unowned self] in judge($0) }
            node.network.onAnswer = { [unowned self] in note($1, to: $0) }
        }
    }

    private func note(_ outcome: DeliveryOutcome, to push: WorldNetwork.Flight) {
        if outcome == .accepted || outcome == .uncertain && random.chance(0.5) { show(push) }
        if outcome == .accepted, push.event == .end, let index = byToken[push.token] { phones[index].hasEnded = true }
    }

    private func step() {
        guard let life else { return }
        counts[.steps] += 1
        switch random.next() % 20 {
        case 0:
            switch random.next() % 10 {
            case 0, 1: end()
            case 2: follow()
            case 3, 4: select()
            case 5: wait()
            default: happen(in: liveTopics.randomElement(using: &random)!)
            }
        case 1..<5: _ = life.runCore()
        // Each part of the store has a thread of its own.
        case 5..<7: _ = sync(CrashDisk.Part.allCases.filter { _ in random.chance(0.6) })
        case 7: clock.pass(.milliseconds(Int.random(in: 1...300, using: &random)))
        case 8..<14: _ = life.nodes.randomElement(using: &random)!.run()
        default:
            let node = life.nodes.randomElement(using: &random)!
            if !node.network.flights.isEmpty { node.answer(0, drawOutcome()) }
        }
    }

    /// Notes that people are to be shown something else from now on.
    private func disturb() { (isResting, rested) = (false, []) }

    /// - Parameter isEnd: `true` if the event ends the topic.
    private func happen(in topic: TopicID, isEnd: Bool = false) {
        clock.pass(.milliseconds(1))
        sequence += 1
        let id = "\(sequence)"
        let event = FeedEvent(
            topic: topic, topicKind: .generic, at: clock.truth, id: id, kind: "number", lifecycle: isEnd ? .end : nil,
            // The second is what a lineup's row shows.
            change: .patch(["number": .int(Int64(sequence)), "minimal": .string(id)]),
            // An alert takes the spotlight away from the favourite.
            alert: random.chance(0.4) ? AlertText(title: id, body: "") : nil)
        guard post(.event(event)) else { return }
        disturb()
        happened.insert(topic)
        tell("event \(id) of \(topic)\(isEnd ? ", its end" : "")")
        guard isEnd else { return }
        ended.insert(topic)
        met[.ends] += 1
    }

    private func end() {
        guard let topic = liveTopics.filter({ happened.contains($0) }).randomElement(using: &random) else { return }
        happen(in: topic, isEnd: true)
        addTopics()
    }

    private func follow() {
        guard phones.count < 60 else { return }
        let card = newCard()
        disturb()
        tell("phone \(phones.count - 1) follows \(card.audience)")
        _ = post(.person(.follow(card), .follow(card.subscription(), app: 0), nil))
    }

    /// Changes the favourite of a lineup, or the whole lineup.
    private func select() {
        guard let index = phones.indices.randomElement(using: &random), !phones[index].endHasLeft,
            let last = phones[index].selections.last, case .lineup(let picks, let favourite) = last.audience
        else { return }
        let others = picks.filter { $0 != favourite }
        let audience =
            random.chance(0.6)
            ? AudienceKey.lineup(picks, favourite: others.randomElement(using: &random)) : drawLineup()
        let phone = phones[index]
        let selection = Selection(audience: audience)
        let flag = selection.isKept
        let command = ShardCommand.move(phone.id, audience)
        let isTaken = post(
            .person(.move(phone.id, audience), .command(command, subscriber: phone.subscriber, app: 0)) { isKept in
                if isKept == true { flag.set() }
            })
        guard isTaken else { return }
        disturb()
        tell("phone \(index) selects \(audience)")
        phones[index].selections.append(selection)
    }

    /// Lets minutes pass once the shards have taken everything.
    private func wait() {
        guard let life else { return }
        life.settle(clock, patience: 5, sync: { sync() })
        let time = Duration.seconds(Int.random(in: 10...600, using: &random))
        tell("a wait of \(time)")
        clock.pass(time)
    }

    /// Lets everything arrive, and rotations get their pushes: a dwell and the time for a token of their budget.
    private func rest() {
        life?.settle(clock, patience: 1200, keeping: 1190, sync: { sync() })
        logged.read(disk.log)
    }

    /// Lets everything arrive, and checks who has what.
    private func calm() {
        tell("a calm")
        let since = clock.truth
        rest()
        if let broken = life?.violation { complain(broken) }
        judgeSelections()
        judgeCards(calmSince: since)
        for index in rested where phones[index].pushes == 0 && !phones[index].endHasLeft { counts[.sparedLineups] += 1 }
        (isResting, rested) = (true, [])
    }

    /// Ends a life by a stop that has time for all.
    private func stop() {
        guard let life else { return }
        tell("a stop")
        if random.chance(0.5) { happen(in: liveTopics.randomElement(using: &random)!) }
        life.stop(at: clock.now)
        rest()
        if !life.hasFinished { complain("a stop leaves events undecided") }
        life.finish()
        while sync() {}
        logged.read(disk.log)
        judgeSelections()
        judgeLiveRows()
        isResting = true
        met[.stops] += 1
    }
}
