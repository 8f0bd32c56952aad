import Fanfare
import FanfareFanOut
import FanfareLog
import FanfareModel
import FanfareTestSupport

/// An engine of two apps in one thread that dies again and again. Between two of its lives hours pass, an operator works on the store, and the apps
/// come in another order, or one of them is left out. Each card gets the pushes of its app alone, no acknowledged card is lost and none is kept
/// twice, each card leaves the Lock Screen at the date of the rules by the wall clock, and a quiet night leaves nothing behind.
final class MaintenanceCrashWorld: MortalWorld, PlayedWorld {
    private struct Phone {
        let id: ActivityID
        let name: String
        let token: [UInt8]
        let startedAt: FeedTime
        /// App that the card's row names, as far as it is known; `nil` for a row without an app, which is of the first app of each engine.
        var app: AppID?
        /// First app of the present life, if a change of this life gives it to a row without an app.
        var changedIn: AppID?
        /// Is set once such a change is durable.
        var isNamed = Flag()
        /// Is `true` once the row had no app: another app may have had the card, and what that app's phones show says nothing.
        var wasUnnamed: Bool
        /// Topics that the card may show: a crash may have lost a move.
        var topics: Set<TopicID>
        /// Is set once the row is durable.
        let isKept = Flag()
        /// Is `true` once an end has left or was asked for, or the card was told to be over.
        var isOver = false
        var state: [UInt8] = []
    }

    private var maintenance: StoreMaintenance
    /// Date of the rules at which ended cards leave the Lock Screen.
    private let date: FeedTime
    private var lives = 0
    private var phones: [Phone] = []
    private var byToken: [[UInt8]: Int] = [:]
    private var topics = (0..<3).map { TopicID("topic/\($0)") }
    /// Topics whose end was handed in.
    private var ended: Set<TopicID> = []
    private var sequence = 0
    private var counted = Met()

    /// Counts of situations that the lives have met, so that a test can tell that its worlds are worth anything.
    struct Met {
        var maintenance = StoreMaintenance.Met()
        /// Rows without an app that were given one, and lives that began with another first app.
        var named = 0, reordered = 0
        /// Checks that found a phone to show its topic's state.
        var shown = 0
        /// Ends with a date; those of them that left while log time was an hour late; and those whose date was neither the present nor the latest
        /// one.
        var ends = 0, lagging = 0, atDate = 0
        /// Followers at rest in the evening.
        var resting = 0

        static func += (sum: inout Met, more: Met) {
            sum.maintenance += more.maintenance
            sum.named += more.named
            sum.reordered += more.reordered
            sum.shown += more.shown
            sum.ends += more.ends
            sum.lagging += more.lagging
            sum.atDate += more.atDate
            sum.resting += more.resting
        }
    }

    var met: Met {
        var met = counted
        met.maintenance = maintenance.met
        return met
    }

    private static let apps = ["one", "two"].map { AppID(bundleID: $0) }

    /// - Parameter tears: `true` if a crash may leave the beginning of the last write.
    init(seed: UInt64, tears: Bool = false) {
        var random = SplitMix64(seed: seed)
        date = ManualClock.start + .seconds(Int.random(in: 2...20, using: &random) * 3600)
        maintenance = StoreMaintenance(seed: random.next())
        super.init(random, tearing: tears ? seed : nil)
        // No night ends a topic.
        build.endsAfterSilence = .seconds(1000 * 86_400)
        build.dismissal = .at(date)
        build.apps = Self.apps
        for _ in 0..<Int.random(in: 3...10, using: &self.random) {
            // As of an import.
            let app = self.random.chance(0.5) ? Self.apps.randomElement(using: &self.random) : nil
            let index = addPhone(app)
            var card = Card(
                subscriber: phones[index].name, activity: phones[index].name, token: phones[index].token,
                audience: .topic(phones[index].topics.first!), startedAt: phones[index].startedAt)
            card.app = app
            phones[index].isKept.set()
            do { try disk.people.apply([.insert(card)]) } catch { complain("a card is refused: \(error)") }
        }
    }

    private func addPhone(_ app: AppID?) -> Int {
        let number = phones.count
        // Half of the phones are the only followers of their topics.
        let own = TopicID("own/\(number)")
        let isAlone = random.chance(0.5)
        if isAlone { topics.append(own) }
        let name = "phone \(number)"
        let token = [UInt8(number), 1, 2]
        byToken[token] = number
        phones.append(
            Phone(
                id: ActivityID(name), name: name, token: token, startedAt: wall, app: app, wasUnnamed: app == nil,
                topics: [isAlone ? own : topics[number % 3]]))
        return number
    }

    /// The clock of the machine, which nobody sets; it passes while no engine runs.
    private var wall: FeedTime { clock.source.wall() }

    /// - Returns: what is wrong.
    func play(lives count: Int) -> String? {
        do {
            for _ in 0..<count {
                try begin()
                // Nothing heals what the restart has left out.
                if random.chance(0.3) { calm() }
                for _ in 0..<Int.random(in: 40...300, using: &random) where violation == nil { step() }
                if violation == nil, random.chance(0.3) { calm() }
                // Killed here: what the core and the shards knew is gone.
            }
            try begin()
            if violation == nil { night() }
        } catch { complain("a restart fails: \(error)") }
        return violation
    }

    // MARK: Between two lives

    private func begin() throws {
        lives += 1
        crash()
        clock.pass(maintenance.outage(hours: 1...5))
        // Pushes in flight have arrived or not.
        for push in drawArrivals() { show(push) }
        if lives > 1 { try keepUp() }
        judgeRows()
        let order = Self.apps.shuffled(using: &random)
        let apps = random.chance(0.25) && lives > 1 ? [order[0]] : order
        if lives > 1, apps[0] != build.apps[0] { counted.reordered += 1 }
        build.apps = apps
        let life = try beginLife()
        tell("life \(lives) with \(apps), log to \(disk.log.end)")
        life.onFate = { [unowned self] fate, id in
            guard fate == .ended || fate == .expired, let index = phones.firstIndex(where: { $0.id == id }) else {
                return
            }
            phones[index].isOver = true
        }
        for node in life.nodes {
            node.network.onPush = { [unowned self, app = apps[node.app]] in judge($0, of: app) }
            node.network.onAnswer = { [unowned self] in note($1, to: $0) }
        }
    }

    private func keepUp() throws {
        try maintenance.trim(disk.log)
        guard random.chance(0.5) else {
            if try maintenance.prune(disk.people, at: wall) { tell("a pruning") }
            return
        }
        // Before the import, which hides what a row named.
        judgeRows()
        for card in try maintenance.importAgain(disk.people) {
            guard let index = byToken[card.token] else { continue }
            tell("phone \(index) is imported again, \(card.app.map { "of \($0)" } ?? "without an app")")
            phones[index].app = card.app
            phones[index].isNamed = Flag()
            if card.app == nil { phones[index].wasUnnamed = true }
        }
        // An operator that imports a file again prunes.
        while try !maintenance.prune(disk.people, at: wall) {}
    }

    /// Rows of the phones, by their numbers.
    private func rows() -> [Int: [Card]] {
        var rows: [Int: [Card]] = [:]
        try? disk.people.read { (_, found) throws(LogError) in
            if case .success(let card) = found, let index = byToken[card.token] {
                rows[index, default: []].append(card)
            }
            return true
        }
        return rows
    }

    /// Checks that each acknowledged card that may be on a phone has one row, and that the row names the card's app.
    private func judgeRows() {
        let rows = rows()
        for index in phones.indices {
            let found = rows[index] ?? []
            if found.count > 1 { complain("phone \(index) has \(found.count) rows") }
            if let card = found.last { judgeApp(of: card, on: index) } else { judgeLoss(of: index) }
            phones[index].changedIn = nil
        }
    }

    private func judgeApp(of card: Card, on index: Int) {
        let phone = phones[index]
        guard let app = card.app else {
            if phone.app != nil || phone.isNamed.isSet { complain("the row of phone \(index) names no app") }
            return
        }
        guard app == phone.app ?? phone.changedIn else {
            return complain("the row of phone \(index) names \(app)")
        }
        if phone.app == nil { counted.named += 1 }
        phones[index].app = app
    }

    private func judgeLoss(of index: Int) {
        let phone = phones[index]
        guard phone.isKept.isSet, !phone.isOver, phone.topics.isDisjoint(with: ended),
            wall - phone.startedAt < .seconds(12 * 3600)
        else { return }
        complain("phone \(index) was acknowledged, and its row is gone")
    }

    // MARK: A life

    private func judge(_ push: WorldNetwork.Flight, of app: AppID) {
        guard let index = byToken[push.token] else { return complain("a push to nobody") }
        tell("\(push.event) to phone \(index) of \(app): \(String(decoding: push.state, as: UTF8.self))")
        let expected = phones[index].app ?? build.apps[0]
        if app != expected { complain("phone \(index) of \(expected) gets a push of \(app)") }
        guard push.event == .end else { return }
        phones[index].isOver = true
        // An unfollowed card has no last state, and goes at once.
        if !push.state.isEmpty { judgeDate(push.dismissalDate, on: index) }
    }

    /// Checks that the card leaves at the date of the rules, but neither before its end nor more than four hours after it. The payload of an end may
    /// be some seconds older than its last push.
    private func judgeDate(_ found: Int64?, on index: Int) {
        let now = wall.milliseconds / 1000
        let expected = min(max(date.milliseconds / 1000, now), now + 4 * 3600)
        counted.ends += 1
        if let life, wall - life.core.now > .seconds(3600) { counted.lagging += 1 }
        if expected != now, expected != now + 4 * 3600 { counted.atDate += 1 }
        if abs((found ?? 0) - expected) > 300 {
            complain("phone \(index) is to lose its card at \(found ?? 0), and not at \(expected)")
        }
    }

    private func note(_ outcome: DeliveryOutcome, to push: WorldNetwork.Flight) {
        if outcome == .accepted || outcome == .uncertain && random.chance(0.5) { show(push) }
    }

    private func show(_ push: WorldNetwork.Flight) {
        if let index = byToken[push.token], push.event == .update { phones[index].state = push.state }
    }

    private func step() {
        guard let life else { return }
        counts[.steps] += 1
        switch random.next() % 20 {
        case 0..<3: happen(in: topics.randomElement(using: &random)!, mayEnd: true)
        case 3: random.chance(0.4) ? follow() : change()
        case 4..<7: _ = life.runCore()
        // Each part of the store has a thread of its own.
        case 7..<9: _ = sync(CrashDisk.Part.allCases.filter { _ in random.chance(0.6) })
        case 9: clock.pass(.milliseconds(Int.random(in: 1...300, using: &random)))
        case 10..<15: _ = life.nodes.randomElement(using: &random)!.run()
        default:
            let node = life.nodes.randomElement(using: &random)!
            if !node.network.flights.isEmpty { node.answer(0, drawOutcome()) }
        }
    }

    private func happen(in topic: TopicID, mayEnd: Bool) {
        guard !ended.contains(topic) else { return }
        clock.pass(.milliseconds(1))
        sequence += 1
        let isEnd = mayEnd && random.chance(0.05)
        let event = FeedEvent(
            topic: topic, topicKind: .generic, at: wall, id: "\(sequence)", kind: "number",
            lifecycle: isEnd ? .end : nil, change: .patch(["number": .int(Int64(sequence))]))
        guard life?.inbox.post(.event(event)).isTaken == true else { return }
        if isEnd { ended.insert(topic) }
        tell("event \(sequence) of \(topic)\(isEnd ? ", its end" : "")")
    }

    private func follow() {
        guard phones.count < 60 else { return }
        let app = random.chance(0.5) ? build.apps.randomElement(using: &random) : nil
        let index = addPhone(app ?? build.apps[0])
        let isKept = phones[index].isKept
        if follow(index, in: .topic(phones[index].topics.first!), naming: app, kept: isKept) {
            tell("phone \(index) follows \(phones[index].topics.first!) by \(app.map { "\($0)" } ?? "the first app")")
        }
    }

    /// - Parameter app: the app that the call names.
    private func follow(_ index: Int, in audience: AudienceKey, naming app: AppID?, kept flag: Flag) -> Bool {
        let phone = phones[index]
        let subscriber = SubscriberID(phone.name, app: app)
        let subscription = Subscription(
            audience: audience, activity: phone.id, subscriber: subscriber, token: phone.token)
        return post(
            call(of: subscriber).entry(subscription), .follow(subscription, app: place(of: app)), kept: flag)
    }

    private func call(of subscriber: SubscriberID) -> PeopleCall {
        PeopleCall(subscriber: subscriber, firstApp: build.apps.first, now: wall)
    }

    private func place(of app: AppID?) -> Int { app.flatMap { build.apps.firstIndex(of: $0) } ?? 0 }

    private func post(_ entry: PeopleEntry?, _ request: CoreRequest, kept flag: Flag) -> Bool {
        guard let entry else { return false }
        return life?.inbox.post(.person(entry, request) { if $0 == true { flag.set() } }).isTaken == true
    }

    /// Follows again, moves or ends a card. The call names the app of a card whose row names one: only that app has the card.
    private func change() {
        guard let index = phones.indices.randomElement(using: &random), !phones[index].isOver,
            phones[index].app.map({ build.apps.contains($0) }) ?? true
        else { return }
        let phone = phones[index]
        let subscriber = SubscriberID(phone.name, app: phone.app)
        let topic = random.chance(0.5) ? phone.topics.randomElement(using: &random)! : topics[0]
        let command: ShardCommand = random.chance(0.2) ? .unfollow(phone.id) : .move(phone.id, .topic(topic))
        let isTaken =
            random.chance(0.3)
            ? follow(index, in: .topic(topic), naming: phone.app, kept: phone.isNamed)
            : post(
                call(of: subscriber).entry(command),
                .command(command, subscriber: subscriber.key, app: place(of: phone.app)), kept: phone.isNamed)
        guard isTaken else { return }
        tell("phone \(index) follows or changes: \(command)")
        if case .unfollow = command { phones[index].isOver = true }
        phones[index].topics.insert(topic)
        if phone.app == nil { phones[index].changedIn = build.apps[0] }
    }

    /// Lets everything arrive, and checks who has what.
    private func calm() {
        guard let life else { return }
        tell("a calm")
        life.settle(clock, patience: 130, keeping: 100, sync: { sync() })
        if let broken = life.violation { complain(broken) }
        judgeStates()
    }

    private func judgeStates() {
        for (index, found) in rows() {
            let phone = phones[index]
            guard let card = found.last, card.phase == .shown, !phone.isOver, !phone.wasUnnamed,
                card.app.map({ build.apps.contains($0) }) == true,
                let state = life?.core.state(of: card.audience.topics[0]), !state.isEnded,
                case .int(let number)? = state.contentState?["number"]
            else { continue }
            let shown = String(decoding: phone.state, as: UTF8.self)
            guard shown.contains("\"number\":\(number),") || shown.contains("\"number\":\(number)}") else {
                complain("phone \(index) shows \(shown), and its topic number \(number)")
                continue
            }
            counted.shown += 1
        }
    }

    /// Number of audiences that are objects.
    private var awake: Int { life?.nodes.reduce(0) { $0 + $1.turn.shard.membership.awakeAudiences } ?? 0 }

    /// Lets ten hours pass in which nothing happens, so that no audience wakes for longer than it takes to send an end. In the morning all cards are
    /// over, and neither the shards nor the store has them.
    private func night() {
        guard let life else { return }
        for topic in topics {
            happen(in: topic, mayEnd: false)
            while life.runCore() || sync() {}
        }
        calm()
        var quietest = awake
        counted.resting += life.nodes.reduce(0) { $0 + $1.turn.shard.membership.restingFollowers }
        var restless = 0
        for _ in 0..<300 where violation == nil {
            clock.pass(.seconds(120))
            for _ in 0..<8 { runAll() }
            let awake = self.awake
            restless = awake > quietest ? restless + 1 : 0
            quietest = min(quietest, awake)
            if restless == 4 { complain("\(awake) audiences are awake at night, and \(quietest) were before") }
        }
        if violation == nil { judgeMorning() }
    }

    /// Lets each thread have a turn, and answers all pushes.
    private func runAll() {
        guard let life else { return }
        _ = life.runCore()
        _ = sync()
        for node in life.nodes {
            _ = node.run()
            while !node.network.flights.isEmpty { node.answer(0, .accepted) }
        }
        clock.pass(.milliseconds(100))
    }

    private func judgeMorning() {
        guard let life else { return }
        if let broken = life.violation { complain(broken) }
        let left = life.nodes.reduce(0) { $0 + $1.turn.shard.statistics.activities }
        if left > 0 || awake > 0 {
            complain("\(left) activities and \(awake) audiences are there ten hours after the last call")
        }
        for (index, found) in rows() {
            for card in found where build.apps.contains(card.app ?? build.apps[0]) {
                complain("phone \(index) has a row ten hours after the last call, \(card.phase)")
            }
        }
    }
}
