import Fanfare
import FanfareDecisions
import FanfareFanOut
import FanfareLog
import FanfareModel
import FanfareRules
import FanfareTestSupport

/// An engine in one thread that dies again and again, at any step, and whose store keeps what was synced. It judges the pushes of its
/// whole life: no alert leaves twice for a phone, after the last restart everybody has the newest one whom no claim names, each phone shows
/// what its topic does, who did so when the engine died gets no push by the restart, and no stamp goes back, however the clock is set. In a life whose
/// disk stalls, alerts leave without claims, and a later life may send these again. In worlds with small budgets, each card of the store begins a life
/// with half of its budget.
final class CrashWorld: MortalWorld, PlayedWorld {
    struct Phone {
        /// Bits of an id that is its token, or a text.
        let id: ActivityID
        let subscriber: UInt64
        /// The first token names a phone without a text.
        var tokens: [[UInt8]]
        let audience: AudienceKey
        /// The first topic.
        var topic: TopicID { audience.topics[0] }
        var isLineup: Bool { audience.topics.count > 1 }
        var alerts: Set<String> = []
        /// Lives in which alerts left last without a claim that names it.
        var unclaimed: [String: Int] = [:]
        /// Log time from which on it may be told of a topic, at the earliest; none for a topic that it has not followed.
        var follows: [TopicID: FeedTime] = [:]
        /// The newest push that has left for it.
        var last: (stamp: Int64, state: [UInt8])?
        /// State that it shows, and the greatest number that has left for it.
        var state: [UInt8] = []
        var number = 0
        /// Is `true` once it was to be moved to another topic, or has begun to follow while the disk stalls. What it lacks is not judged.
        var hasMoved = false
        /// Is `true` once it has followed again with another token, which may be another card's. A restart sends it the state once more.
        var hasFollowedAgain = false
        /// Is `true` if each push to it fails.
        var isSick = false
        /// Time of the newest push that has left for it.
        var pushedAt = MonotonicTime.always
        /// Number of pushes that have left for it in this life.
        var pushes = 0
    }

    /// Draws the moments and steps at which somebody sets the wall clock; `nil` if nobody does.
    private var setter: SplitMix64?
    var slowDisk: SlowDisk
    var phones: [Phone] = []
    var byToken: [[UInt8]: Int] = [:]
    private var sequence = 0
    /// Number of the last event before this life.
    var before = 0
    /// Numbers of the durable versions.
    var durable: Set<Int> = []
    /// Claims from before this life.
    private(set) var claimsBefore: [StoredClaims] = []
    var known = KnownAlerts()
    /// Is `true` in the life of another decision version than that of the life before.
    var isUpgrade = false
    /// Is `true` since a build that decides otherwise and does not say so. Whether it has shown something by itself depends on the checkpoint that a
    /// restart finds, so that versions have other numbers after the next one, and everybody gets them once more.
    var isMistake = false
    var death = CrashDeath()
    /// Is `true` if each calm is so long that lineups become restorable.
    private let isPatient: Bool
    /// Judges the budgets of cards that the store hands back; `nil` in worlds whose budgets are too large to be spent.
    var budgets: BudgetJudge?
    var met = CrashTally()

    static let topics = (0..<2).map { TopicID("topic/\($0)") }

    /// - Parameters:
    ///   - hasStalls: `true` if parts of the disk stall in some lives.
    ///   - tears: `true` if a crash may leave the beginning of the last write.
    init(seed: UInt64, hasStalls: Bool = false, tears: Bool = false) {
        slowDisk = SlowDisk(isPossible: hasStalls)
        isPatient = seed % 3 == 0
        super.init(SplitMix64(seed: seed), tearing: tears ? seed : nil)
        if seed % 4 == 0 { setter = SplitMix64(seed: seed) }
        if random.chance(0.3) { build.minimumInterval = .seconds(20) }
        switch seed % 5 {
        case 1: build.lineups.round = .seconds(30)
        case 2: build.lineups.order = .schedule
        default: break
        }
        if seed % 4 == 2 {
            budgets = BudgetJudge()
            build.priority = .immediate
            build.limits = BudgetJudge.limits
        }
        if seed % 7 < 4 {
            // A pass takes many turns, and a search several passes.
            build.completionLimits = CompletionLimits(visitsMax: 1 + Int(seed % 7) * 2, topicsMax: 1 + Int(seed % 2))
        }
        for _ in 0..<Int.random(in: 20...60, using: &random) {
            let card = newCard()
            do { try disk.people.apply([.insert(card)]) } catch { complain("a card is refused: \(error)") }
        }
        if random.chance(0.3) { phones[0].isSick = true }
    }

    /// Makes a card, and its phone.
    private func newCard() -> Card {
        let number = phones.count
        let isNamed = random.chance(0.5)
        let topics = Self.topics.shuffled(using: &random)
        let audience: AudienceKey =
            switch random.next() % 8 {
            case 0: .lineup(topics, favourite: drawFavourite())
            // Nobody else has this lineup.
            case 1, 2: .lineup(topics + [TopicID("own/\(number)")], favourite: drawFavourite())
            default: .topic(topics[0])
            }
        let card = Card(
            subscriber: isNamed ? "person \(number)" : nil, activity: isNamed ? "phone \(number)" : nil,
            token: [UInt8(number), 1, 2, 3], audience: audience,
            startedAt: FeedTime(milliseconds: clock.truth.milliseconds - 3_600_000))
        byToken[card.token] = number
        let since = life?.core.now ?? FeedTime(milliseconds: 0)
        phones.append(
            Phone(
                id: card.id, subscriber: card.subscription().subscriber, tokens: [card.token],
                audience: audience, follows: Dictionary(uniqueKeysWithValues: audience.topics.map { ($0, since) })))
        return card
    }

    private func drawFavourite() -> TopicID? { random.chance(0.4) ? Self.topics.randomElement(using: &random) : nil }

    /// The durable card of each phone, by its number.
    func cards() -> [Int: Card] {
        var found: [Int: Card] = [:]
        try? disk.people.read { (_, row) throws(LogError) in
            if case .success(let card) = row, let number = byToken[card.token] { found[number] = card }
            return true
        }
        return found
    }

    /// - Returns: what is wrong.
    func play(lives: Int) -> String? {
        do {
            for _ in 1...lives {
                try begin()
                // Cards move before what the restart publishes has come to them.
                if random.chance(0.15) { for _ in 0..<5 { move() } }
                // Nothing heals what the restart has left out.
                if random.chance(0.2) { calm() }
                let steps = Int.random(in: 20...400, using: &random)
                for _ in 0..<steps where violation == nil {
                    step()
                    // Later on the disk has claims of all followers.
                    if !slowDisk.leftUnclaimed.isEmpty, random.chance(0.05) { break }
                }
                if violation == nil, random.chance(0.3) {
                    calm()
                    if random.chance(0.4) {
                        stop()
                        continue
                    }
                    // A topic is complete, and somebody joins it whom no push has reached yet.
                    if random.chance(0.5) {
                        follow()
                        while life?.runCore() == true || sync() {}
                        // An entry comes before the card's push is answered, and then everything calms down.
                        if random.chance(0.5) {
                            happen()
                            while life?.runCore() == true || sync() {}
                            calm()
                        }
                    }
                }
                // Killed here: what the core and the shards knew is gone.
            }
            try begin()
            if violation == nil { calm() }
        } catch { complain("a restart fails: \(error)") }
        return violation
    }

    /// Ends a life by a stop that has time for all.
    private func stop() {
        guard let life else { return }
        tell("a stop")
        if random.chance(0.5) { happen() }
        life.stop(at: clock.now)
        calm()
        if !life.hasFinished { complain("a stop leaves events undecided") }
        life.finish()
        while sync() {}
    }

    private func begin() throws {
        met.lives += 1
        if life?.isLoading == true { met.unloaded += 1 }
        judgeLoss()
        noteRestorable()
        crash()
        before = sequence
        claimsBefore = disk.claims.claims
        noteDurable()
        clock.pass(.milliseconds(Int.random(in: 1...(random.chance(0.2) ? 400_000 : 5000), using: &random)))
        // All together not so far that the feed would seem to be ahead: its events would count as now, which may be earlier than those before.
        if let second = setter?.next(upperBound: UInt64(25)) { clock.set(by: .seconds(-Int(second))) }
        // Pushes in flight have arrived or not.
        for push in drawArrivals() { show(push) }
        slowDisk.begin(isStalling: slowDisk.isPossible && random.chance(0.5))
        for index in phones.indices { phones[index].pushes = 0 }
        build.claimPatience = slowDisk.isStalling ? .seconds(2) : WorldNode.endlessPatience
        let shards = Int.random(in: 1...2, using: &random)
        upgrade()
        death.calm = death.at == nil ? [] : Set(phones.indices)
        budgets?.begin(with: cards().keys, at: clock.source.wall().milliseconds / 1000)
        let life = try beginLife(shards: shards)
        tell(
            "life \(met.lives) with \(life.nodes.count) shards, edition \(build.edition), decision version \(build.decisionVersion)"
                + "\(life.isMuted ? ", muted" : ""), log to \(disk.log.end), shown "
                + Self.topics.map { life.core.state(of: $0)?.contentState.map { "\($0)" } ?? "nothing" }.joined(
                    separator: " and "))
        // Nobody gets in this life what had not left by then. After an unmute, the next one may find it fresh.
        if life.isMuted { for topic in Self.topics { known.passedOver.formUnion(durableAlerts(of: topic)) } }
        for (index, node) in life.nodes.enumerated() {
            node.network.onPush = { [unowned self] in judge($0, from: index) }
            node.network.onAnswer = { [unowned self] in note($1, to: $0) }
        }
    }

    /// Notes the lineups that were restorable when the engine died: their dwell and their interval were over, and their topics had been noted.
    private func noteRestorable() {
        death.restorable = Set(
            phones.indices.filter {
                // A cycle comes to what the phone shows, sooner or later.
                death.at != nil && phones[$0].isLineup && !phones[$0].isSick && build.lineups.round == nil
                    && phones[$0].pushedAt + Self.restorableAfter <= clock.now
            })
        met.restorable += death.restorable.count
    }

    /// Time after its newest push within which a lineup becomes restorable, and its topics are noted.
    private static let restorableAfter = Duration.seconds(45)

    /// Runs another build now and then. Most that decide otherwise count their decision version; one that does not is a mistake.
    private func upgrade() {
        isUpgrade = false
        guard random.chance(0.25) else { return }
        let before = build.edition
        if random.chance(0.7) { build.edition = Int.random(in: 0..<3, using: &random) }
        guard random.chance(0.8), disk.log.end > 0 else {
            if build.edition != before { isMistake = true }
            return
        }
        isMistake = false
        build.decisionVersion = (build.decisionVersion + UInt32.random(in: 1...2, using: &random)) % 3
        isUpgrade = true
        met.upgrades += 1
        let recalled = (try? disk.log.checkpoints.positions().first).flatMap(\.self) ?? 0
        guard recalled != disk.log.end else {
            met.quietUpgrades += 1
            // Everybody gets what it shows otherwise, and this life may end before that.
            if build.edition != before { death.at = nil }
            return
        }
        // A state decided otherwise alerts nobody, and everybody may get it.
        for topic in Self.topics { known.passedOver.formUnion(durableAlerts(of: topic)) }
        death.at = nil
    }

    /// Lets a part of the disk stall now and then.
    private func stall() {
        guard slowDisk.isStalling, random.chance(0.05), let part = CrashDisk.Part.allCases.randomElement(using: &random)
        else {
            return
        }
        slowDisk.stalls.begin(of: part, at: clock.now, for: .milliseconds(Int.random(in: 1000...5000, using: &random)))
        counts[.stalls] += 1
        tell("a stall of \(part)")
    }

    private func step() {
        guard let life else { return }
        counts[.steps] += 1
        stall()
        switch random.next() % 20 {
        case 0:
            death.at = nil
            switch random.next() % 10 {
            case 0: order()
            case 1: rotate()
            case 2: follow()
            case 3: move()
            default: happen()
            }
        case 1..<5: _ = life.runCore()
        // Each part of the store has a thread of its own.
        case 5..<7: _ = sync(CrashDisk.Part.allCases.filter { _ in random.chance(0.6) })
        case 7:
            // A stall outlasts the patience of alerts with the disk.
            let most = slowDisk.stalls.areGoingOn(at: clock.now) ? 1500 : 300
            clock.pass(.milliseconds(Int.random(in: 1...most, using: &random)))
        case 8..<14: _ = life.nodes.randomElement(using: &random)!.run()
        default:
            let node = life.nodes.randomElement(using: &random)!
            answer(node, random.chance(0.1) ? .notProcessed : .accepted)
        }
    }

    private func happen() {
        guard let life else { return }
        if random.chance(0.8) { clock.pass(.milliseconds(1)) }
        sequence += 1
        let id = "\(sequence)"
        let event = FeedEvent(
            topic: Self.topics.randomElement(using: &random)!, topicKind: .generic, at: clock.truth, id: id,
            kind: "number",
            // The second is what a lineup's row shows.
            change: .patch(["number": .int(Int64(sequence)), "minimal": .string(id)]),
            alert: random.chance(0.6) ? AlertText(title: id, body: "") : nil)
        guard life.inbox.post(.event(event)).isTaken else { return }
        known.happenedAt[id] = clock.truth
        tell("event \(id) of \(event.topic)\(event.alert == nil ? "" : ", with an alert")")
    }

    /// Alerts of a class that wait at most, in an audience (`PendingAlert.perClassMax`).
    private static let alertsKept = 8

    /// Changes the token of a phone that has a name beside it.
    private func rotate() {
        guard let index = phones.indices.filter({ phones[$0].id.text != nil }).randomElement(using: &random) else {
            return
        }
        let token = [UInt8(index), UInt8(phones[index].tokens.count), 9]
        let request: CoreRequest
        if random.chance(0.5) {
            request = .person(
                .replaceToken(phones[index].id, token),
                .command(
                    .replaceToken(phones[index].id, token: token), subscriber: phones[index].subscriber, app: 0), nil)
        } else {
            // An app that has lost track follows anew.
            phones[index].hasFollowedAgain = true
            let card = Card(
                subscriber: "person \(index)", activity: "phone \(index)", token: token,
                audience: phones[index].audience, startedAt: clock.truth)
            request = .person(.follow(card), .follow(card.subscription(), app: 0), nil)
        }
        guard life?.inbox.post(request).isTaken == true else { return }
        tell("phone \(index) has another token")
        byToken[token] = index
        phones[index].tokens.append(token)
    }

    private func follow() {
        guard phones.count < 100 else { return }
        let card = newCard()
        // Behind a slow disk, events overtake the rows of cards.
        if slowDisk.isStalling { phones[phones.count - 1].hasMoved = true }
        tell("phone \(phones.count - 1) follows \(card.audience)")
        _ = life?.inbox.post(.person(.follow(card), .follow(card.subscription(), app: 0), nil))
    }

    private func move() {
        guard let index = phones.indices.randomElement(using: &random) else { return }
        let topics = Self.topics.shuffled(using: &random)
        let topic = random.chance(0.3) ? AudienceKey.lineup(topics, favourite: drawFavourite()) : .topic(topics[0])
        let phone = phones[index]
        phones[index].hasMoved = true
        for followed in topic.topics where phones[index].follows[followed] == nil {
            phones[index].follows[followed] = life?.core.now
        }
        tell("phone \(index) moves to \(topic)")
        _ = life?.inbox.post(
            .person(
                .move(phone.id, topic), .command(.move(phone.id, topic), subscriber: phone.subscriber, app: 0), nil))
    }

    private func answer(_ node: WorldNode, _ outcome: DeliveryOutcome) {
        guard let push = node.network.flights.first else { return }
        let isSick = byToken[push.token].map { phones[$0].isSick } ?? false
        node.answer(0, isSick ? .serviceError : outcome)
    }

    private func order() {
        sequence += 1
        let operation = random.chance(0.5) ? FeedEvent.Operation.mute : .unmute
        tell("order \(operation)")
        let event = FeedEvent(
            topic: .every, at: clock.truth, id: "\(sequence)", kind: operation.rawValue, change: .operation(operation),
            app: AppID(bundleID: "one"))
        _ = life?.inbox.post(.event(event))
    }

    override func sync(_ parts: [CrashDisk.Part] = CrashDisk.Part.allCases) -> Bool {
        super.sync(parts.filter { !slowDisk.stalls.isStalled($0, at: clock.now) })
    }

    /// Lets everything arrive, and checks who has what.
    private func calm() {
        guard let life else { return }
        tell("a calm")
        slowDisk.stalls.end()
        let sick = phones.count(where: \.isSick)
        var idle = 0
        // A change that waits for its interval comes after that.
        let patience = isPatient ? 600 : sick > 0 || build.minimumInterval > .zero ? 250 : 10
        var turns = 0
        // A cycle's push may be on its way at any moment.
        while turns < 3000 || turns < 3100 && life.core.counts.owed > sick {
            turns += 1
            var isBusy = life.runCore()
            if sync() { isBusy = true }
            for node in life.nodes {
                if node.run() { isBusy = true }
                while !node.network.flights.isEmpty {
                    answer(node, .accepted)
                    isBusy = true
                }
            }
            // A push after an interval takes its time, too.
            if isBusy { idle = min(idle, patience - 10) }
            if !isBusy {
                // Figures, completions, and a pass for those who lack something, need some time.
                idle += 1
                if life.core.counts.owed <= sick, idle > patience { break }
                clock.pass(.milliseconds(100))
            }
        }
        if life.core.counts.owed > sick { complain("\(life.core.counts.owed) phones are owed a push after a calm") }
        judgeStates(judgesLineups: patience >= 250)
        death.at = life.core.now
        // No alert goes on by a clock that has been set back.
        guard setter == nil else { return }
        for topic in Self.topics {
            // Older ones may have been superseded.
            guard let newest = durableAlerts(of: topic).last, !isWithheld(newest), !known.passedOver.contains(newest),
                let at = known.happenedAt[newest],
                clock.truth - at < .seconds(200)
            else { continue }
            // Newer ones of another topic may have displaced it in a lineup.
            let newer = Self.topics.flatMap(durableAlerts).filter { known.granted[$0].map { $0.at > at } ?? false }
            let isDisplaced = newer.count >= Self.alertsKept
            let cards = cards()
            for (index, phone) in phones.enumerated()
            where phone.audience.topics.contains(topic) && !phone.alerts.contains(newest) {
                if phone.isLineup && isDisplaced { continue }
                guard let card = cards[index], !phone.hasMoved, !phone.isSick, let at = known.granted[newest]?.at,
                    card.joinedAt.map({ $0 < at }) ?? true
                else { continue }
                // A claim of this life, in which nobody was killed, is no reason.
                guard isClaimed(phone, newest, in: claimsBefore, orOneOfItsMoment: phone.isLineup) else {
                    return complain(
                        "phone \(index)\(phone.isLineup ? ", a lineup," : "") lacks alert \(newest) of \(topic)")
                }
                met.uncertain += 1
            }
        }
    }
}
