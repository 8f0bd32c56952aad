import CountAllocations
import FanfareDecisions
import FanfareFanOut
import FanfareLog
import FanfareModel
import FanfareQueues
import FanfareTestSupport

/// Counts of what a season has done.
struct SeasonCounts {
    var events = 0
    var follows = 0
    var unfollows = 0
}

/// Days and weeks of an engine's life in virtual time: decision core, shard and phones on one thread. Topics come and go by
/// the hundred thousand, people follow and leave, cards are renewed, and once a week everything goes wrong. At six each
/// morning the living objects and their bytes are counted, and what the store has, if there is one.
final class Season {
    private(set) var mornings: Mornings
    private(set) var counts = SeasonCounts()
    private(set) var phones = Phones()

    private let options: SeasonOptions
    private let plan: DayPlan
    private var core: DecisionCore
    private var decisions: [Decision] = []
    private let shard: Shard
    private var exchange = PushExchange()
    private var open = OpenPublications()
    private var violation: String?
    /// `nil` for a season without one.
    private var store: SeasonStore?
    private var unanswered = StoreFeedback()

    private var clock = SeasonClock(at: SeasonTime(day: 0, hour: 5, minute: 59))

    /// Topics that go on for the whole season.
    private static let tables = (0..<5).map { TopicID("table/\($0)") }
    /// Number of cards that each person with renewed cards has begun.
    private var people: [Int]

    private var now: SeasonTime { clock.now }
    private var moment: Moment { clock.moment }
    /// Log time, which follows the monotonic clock.
    private var log: FeedTime { clock.log }

    init(_ options: SeasonOptions) {
        self.options = options
        var random = SplitMix64(seed: options.seed)
        plan = DayPlan(topics: options.topicsPerDay, using: &random)
        mornings = Mornings(before: Int(bytes_held_by_this_thread()))
        people = Array(repeating: 0, count: max(40, options.topicsPerDay / 500))
        var rules = Rules.builtIn
        rules.other.lifetime.renews = true
        core = DecisionCore(rules: rules, isLive: false)
        shard = Shard(lineups: rules.lineups)
        openStore(rules)
    }

    private func openStore(_ rules: Rules) {
        guard let folder = options.store else { return }
        shard.reportRemovals()
        // A sweep through a lineup's members takes several blocks.
        shard.keepClaims(ClaimLimits(blocks: 4...64))
        do {
            store = try SeasonStore(
                folder: folder, rules: rules, topicsPerDay: options.topicsPerDay, leaks: options.storeLeaks)
        } catch { fail("the store: \(error)") }
    }

    /// Tells the store of something; does nothing without one.
    private func tell(_ body: (SeasonStore) throws -> Void) {
        guard let store else { return }
        do { try body(store) } catch { fail("the store: \(error)") }
    }

    /// - Parameter onMorning: called after each day.
    /// - Returns: the first violation, or `nil`.
    func run(onMorning: (_ day: Int, Morning) -> Void) -> String? {
        if let violation { return violation }
        beginTables()
        for day in 0..<options.days {
            play(day)
            guard let morning = morning() else { return "\(now): \(violation ?? "")" }
            mornings.note(morning)
            onMorning(day + 1, morning)
        }
        return grown()
    }

    /// Describes a growth of the tables, the heap or the store since the third day; `nil` if there is none.
    private func grown() -> String? {
        mornings.growth(hasLargeColumns: bytes_mapped_by_this_thread() > 0)
    }

    private func fail(_ problem: String?) { if violation == nil { violation = problem } }

    // MARK: A day

    /// Plays a day, from six in the morning to six.
    private func play(_ day: Int) {
        var happenings = plan.happenings[...]
        for hour: Int64 in 6..<30 {
            pass(to: SeasonTime(day: day, hour: hour))
            guard violation == nil else { return }
            beginHour()
            let end = SeasonTime(day: day, hour: hour + 1)
            while violation == nil, let next = happenings.first {
                let at = SeasonTime(day: day, hour: 0) + .milliseconds(next.at)
                guard at < end else { break }
                happenings.removeFirst()
                pass(to: at)
                take(next, of: day)
            }
        }
        pass(to: SeasonTime(day: day + 1, hour: 6))
    }

    private func beginTables() {
        for topic in Season.tables {
            apply(FeedEvent(topic: topic, at: log, kind: "patch", lifecycle: .start, change: .patch(["status": "-"])))
        }
    }

    /// Judges all cards, updates the tables and carries out the calendar's entries for the hour.
    private func beginHour() {
        phones.endOld(at: now)
        if !Troubles.delayed(from: now, to: now) { phones.judgeAll(at: now) }
        fail(phones.violation)
        let hour = now.milliseconds / SeasonTime.perHour
        for (number, topic) in Season.tables.enumerated() {
            let alert = hour % 5 == number ? AlertText(title: "\(topic)", body: "hour \(hour)") : nil
            apply(
                FeedEvent(
                    topic: topic, at: log, kind: "patch", change: .patch(["status": .string("h\(hour)")]), alert: alert),
                alerts: alert != nil)
        }
        if now == Troubles.endOfSummerTime { for person in people.indices { tellPreferences(of: person) } }
        if now.ofDay == 12 * SeasonTime.perHour { rotateTokens() }
        if Troubles.makesAllLeave(at: now) {
            for name in phones.names where !phones.isRenewed(name) { unfollow(name) }
        }
        let served = phones.people
        for person in people.indices where !served.contains(person) { beginCard(of: person) }
        serve()
    }

    /// Replaces the tokens of renewed cards.
    private func rotateTokens() {
        for name in phones.names where phones.isRenewed(name) {
            guard let token = phones.rotateToken(of: name) else { continue }
            shard.apply(.replaceToken(ActivityID(hashing: name), token: token), at: moment)
            tell { try $0.take(.replaceToken(ActivityID(hashing: name), token), at: log) }
        }
    }

    // MARK: People

    private func name(of person: Int) -> String { "person \(person)/\(people[person])" }

    /// Begins a card that is to be renewed.
    private func beginCard(of person: Int) {
        people[person] += 1
        counts.follows += 1
        let name = name(of: person)
        let audience: AudienceKey =
            person % 2 == 0 ? .topic(Season.tables[person / 2 % 5]) : .lineup(Season.tables)
        let token = phones.add(name, audience, person: person, at: now)
        follow(name, audience, token: token)
        let request = StartRequest(
            activity: name, token: Phones.startToken(of: name), attributesType: "Table",
            alert: AlertText(title: "Table", body: ""))
        start(request, audience)
        tellPreferences(of: person)
    }

    private func follow(_ name: String, _ audience: AudienceKey, token: [UInt8]) {
        shard.apply(.follow(ActivityID(hashing: name), audience, token: token), at: moment)
        tell { try $0.take(.follow(row(of: name, audience, token: token)), at: log) }
    }

    private func start(_ request: StartRequest, _ audience: AudienceKey) {
        shard.apply(.start(request, audience), at: moment)
        tell {
            var new = row(of: request.activity, audience, token: request.token)
            (new.phase, new.request) = (.starting, request)
            try $0.take(.start(new), at: log)
        }
    }

    /// Returns the row of a new card.
    private func row(of name: String, _ audience: AudienceKey, token: [UInt8]) -> FanfareLog.Card {
        FanfareLog.Card(
            subscriber: name, activity: name, token: token, audience: audience,
            startedAt: FeedTime(milliseconds: now.unixMilliseconds))
    }

    private func tellPreferences(of person: Int) {
        let (id, preferences) = (ActivityID(hashing: name(of: person)), Card.preferences(at: now))
        shard.apply(.setPreferences(id, preferences), at: moment)
        tell { try $0.take(.setPreferences(id, preferences), at: log) }
    }

    private func unfollow(_ name: String) {
        guard phones.leave(name, at: now) else { return }
        counts.unfollows += 1
        shard.apply(.unfollow(ActivityID(hashing: name)), at: moment)
        tell { try $0.take(.unfollow(ActivityID(hashing: name)), at: log) }
    }

    /// Lets people follow: one before the topic exists, one later and sometimes by a push; one in ten leaves before the end.
    private func take(_ happening: DayPlan.Happening, of day: Int) {
        let number = happening.topic
        let audience = AudienceKey.topic(DayPlan.id(day: day, number))
        func begin(_ name: String) {
            counts.follows += 1
            follow(name, audience, token: phones.add(name, audience, at: now))
        }
        switch happening.step {
        case 0:
            if options.leak > 0 { _ = UnsafeMutableRawPointer.allocate(byteCount: options.leak, alignment: 1) }
            begin("\(day)/\(number)/1")
        case 4 where number % 25 == 4:
            counts.follows += 1
            let name = "\(day)/\(number)/2"
            let request = StartRequest(
                activity: name, token: phones.expect(name, audience), attributesType: "Topic",
                alert: AlertText(title: "Follow", body: ""))
            start(request, audience)
        case 4: begin("\(day)/\(number)/2")
        case 8 where number % 10 == 3: unfollow("\(day)/\(number)/2")
        default: break
        }
        apply(DayPlan.event(day: day, happening, at: log), alerts: DayPlan.alerts(happening))
        serve()
    }

    // MARK: Deciding

    /// - Parameter alerts: `true` if the event must alert people.
    private func apply(_ event: FeedEvent, alerts: Bool = false) {
        counts.events += 1
        core.advance(to: log, into: &decisions)
        carryOut()
        core.apply(event, now: log, into: &decisions)
        tell { try $0.take(event, at: log) }
        var alert: Alert?
        for case .publish(let publication) in decisions { alert = publication.alert }
        if case .record(let record)? = decisions.last, ![.published, .unchanged].contains(record.outcome) {
            fail("\(event.topic), \(event.id ?? ""): \(record.outcome), \(record.reason)")
        }
        if (alert != nil) != alerts { fail("\(event.topic), \(event.id ?? ""): alert \(alert?.text.title ?? "none")") }
        carryOut()
    }

    private func carryOut() {
        for decision in decisions {
            switch decision {
            case .publish(let publication):
                phones.note(publication, at: now)
                open.published(publication.serial)
                shard.apply(.publish(publication), at: moment)
            case .revokeAlert(let topic, let cause):
                phones.revoke(cause, of: topic)
                shard.apply(.revokeAlert(topic: topic, cause: cause), at: moment)
            case .forget(let topic):
                phones.forget(topic)
                shard.apply(.forget(topic), at: moment)
            case .order, .record: break
            }
        }
        decisions.removeAll(keepingCapacity: true)
    }

    // MARK: Time

    /// Advances time to `end`, stopping at everything that is due before.
    private func pass(to end: SeasonTime) {
        while now < end, violation == nil {
            var next = end
            if let due = core.nextDeadline { next = min(next, now + (due - log)) }
            if let due = shard.nextDue {
                next = min(next, now + (due - moment.monotonic + .nanoseconds(999_999)))
            }
            if let report = phones.nextReport { next = min(next, report) }
            // A wrong clock is read every second while it is wrong, and a failing service is tried every second; shorter steps would only
            // wake the shard for pushes that cannot be sent.
            let second = min(end, now + .seconds(1))
            if Troubles.isBad(now.day) { next = min(next, second) }
            if Troubles.service(at: now) != .well { next = max(next, second) }
            clock.pass(to: next)
            core.advance(to: log, into: &decisions)
            carryOut()
            if let due = shard.nextDue, due <= moment.monotonic { shard.wakeDue(at: moment) }
            reportTokens()
            serve()
        }
    }

    private func reportTokens() {
        while let (name, audience, token) = phones.takeReport(at: now) { follow(name, audience, token: token) }
    }

    // MARK: The service

    private func serve() {
        repeat {
            push()
            shard.drainFeedback(take)
            askOfRemovals()
        } while answerClaims()
        fail(phones.violation)
    }

    private func push() {
        let service = Troubles.service(at: now)
        let room = exchange.room(at: service, now)
        while room > 0, violation == nil {
            let isBusy = exchange.run(shard, limit: room, at: moment) {
                phones.take($0, $1, service, at: now)
            }
            if !isBusy || service != .well { break }
        }
    }

    /// Hands the shard's requests for claims to the store, and confirms them.
    ///
    /// - Returns: `true` if pushes may have waited for them.
    private func answerClaims() -> Bool {
        guard violation == nil, let last = unanswered.claims.last else { return false }
        let requests = unanswered.claims
        unanswered.claims.removeAll()
        tell { for request in requests { try $0.take(request.claims, starts: request.starts, at: log) } }
        shard.apply(.claimed(last.ticket), at: moment)
        return true
    }

    /// Asks the shard whether cards that it has removed are over. It reports further ones only then.
    private func askOfRemovals() {
        while !unanswered.removals.isEmpty {
            let questions = unanswered.removals
            unanswered.removals.removeAll()
            for (id, token) in questions { shard.apply(.checkRemoval(id, token: token), at: moment) }
            shard.drainFeedback(take)
        }
    }

    private func take(_ fact: ShardFeedback) {
        switch fact {
        case .completed(let serial, _), .overtaken(let serial):
            fail(open.completed(serial))
        case .deadToken(let id): phones.hearDeath(of: id)
        case .fate(let id, let fate): phones.hear(fate, of: id, at: now)
        case .report(let line):
            // Reports of sick tokens are expected.
            if !line.contains("ends have not arrived") { fail(line) }
        case .removed(let id, let token): unanswered.removals.append((id, token))
        case .removalChecked(let id, let token, let isOver):
            if isOver { tell { try $0.takeRemoval(of: id, token: token, at: log) } }
        case .claims(let request): unanswered.claims.append(request)
        case .disposition, .quiet, .counted, .fresh, .ready, .loaded, .topicsCompleted, .showsAgain, .stampsReach: break
        }
    }

    // MARK: The morning

    /// - Returns: the counts; `nil` after a violation.
    private func morning() -> Morning? {
        // A card that is being renewed counts twice, and so does one whose renewal is not answered.
        let latest = now + .seconds(600)
        while now < latest, violation == nil, !shard.isQuiet || phones.awaitsRenewal { pass(to: now + .seconds(1)) }
        fail(phones.violation)
        fail(shard.violatedInvariant())
        if !shard.isQuiet { fail("\(shard.statistics.owed) pushes are still owed, hours after the last event") }
        fail(open.violation())
        let untold = phones.takeGone()
        if untold > 0 { fail("\(untold) cards have gone for their age, and nobody was told") }
        fail(phones.deaths.violation())
        let statistics = shard.statistics
        if statistics.activities != phones.count {
            fail("\(phones.count) cards are on phones, \(statistics.activities) in the shard")
        }
        if statistics.alerts.unclaimed > 0 { fail("\(statistics.alerts.unclaimed) alerts have left without claims") }
        let figures = endDayOfStore()
        guard violation == nil else { return nil }
        let tables = Tables(
            topics: core.topicCount, topicsInShard: shard.topicCount, activities: statistics.activities,
            tokenless: statistics.tokenless, phones: phones.count)
        return mornings.morning(tables, figures)
    }

    /// - Returns: what the store had on the day; `nil` without a store.
    private func endDayOfStore() -> StoreFigures? {
        var figures: StoreFigures?
        tell { store in
            let day = try store.endDay(at: log)
            mornings.note(day)
            figures = day
            if store.topicCount != core.topicCount {
                fail("a restart would know \(store.topicCount) topics, and the core knows \(core.topicCount)")
            }
        }
        return figures
    }
}
