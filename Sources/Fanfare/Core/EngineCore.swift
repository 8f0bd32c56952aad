package import FanfareDecisions
package import FanfareFanOut
package import FanfareLog
package import FanfareLoop
package import FanfareModel

/// Decision core together with its shards, whose feedback `takeFeedback` takes. It has no loop. Its owner has one, feeds events in, from
/// files (replay) or from a mailbox (`CoreTurn`), and is its delegate. Confined to the core's thread.
package final class EngineCore {
    /// Receiver of all reports from the moment it is set. It owns the core or outlives it.
    package unowned var delegate: (any EngineCoreDelegate)?
    // These properties are confined to one thread and never re-entered by their callees. Exclusivity checks at run time would cost as much as some of
    // the accesses.
    @safe @exclusivity(unchecked) var decisionCore: DecisionCore
    @safe @exclusivity(unchecked) private var decisions: [Decision] = []
    @safe @exclusivity(unchecked) private var feedWatch: FeedWatch
    @safe @exclusivity(unchecked) package internal(set) var apps: AppTable
    /// Calls with idempotency keys.
    @safe @exclusivity(unchecked) var keys = KnownKeys()
    private let shards: ShardLinks
    @safe @exclusivity(unchecked) private var loading: ShardLoading
    private var figures: ShardFigures
    @safe @exclusivity(unchecked) private var publications = ShardCompletions()
    private var questions: PendingQuestions
    /// Rules that the present recall has adopted; `nil` outside a recall.
    @safe @exclusivity(unchecked) var recalling: RecalledRules?
    /// Number of records since the beginning of the log.
    @safe @exclusivity(unchecked) var records = RecordCounts()
    /// Alerts that may still go on to activities; `nil` if alerts of an earlier process do not go on.
    @safe @exclusivity(unchecked) var recentAlerts: RecentAlerts?
    @safe @exclusivity(unchecked) private var completions: PeopleCompletions

    /// - Parameters:
    ///   - links: links to the shards, grouped by app, equally many for each.
    ///   - apps: apps in the order of their shards; empty if nothing is sent to APNs.
    ///   - isLive: `true` if log time follows the wall clock; `false` if it is that of a recorded feed.
    ///   - join: waits until the stopping shards have ended, and hands over their remaining feedback.
    package init(
        rules: Rules = .builtIn, shards links: [ShardLink], perApp: Int, apps: [AppID] = [], isLive: Bool,
        join: @escaping ((ShardFeedback, _ shard: Int) -> Void) -> Void = { _ in }
    ) {
        decisionCore = DecisionCore(rules: rules, isLive: isLive)
        feedWatch = FeedWatch(rules: rules)
        self.apps = AppTable(apps, count: links.count / perApp)
        loading = ShardLoading(shards: links.count)
        figures = ShardFigures(shards: links.count)
        questions = PendingQuestions(shards: links.count)
        completions = PeopleCompletions(perApp: perApp)
        shards = ShardLinks(links, perApp: perApp, join: join)
        for link in links { link.onOvertaken = { [unowned self] in overtake($0) } }
    }

    /// Creates a core whose shards run on threads of their own and wake the loop when they have feedback.
    ///
    /// - Parameters:
    ///   - activities: those that the shards have before they start.
    ///   - subscribers: loaded into the shards after `activities`.
    ///   - storedCount: number of cards that are loaded later, while shards serve; `nil` if none are.
    ///   - keepsPeople: `true` to hear of each activity that the shards remove, and of the claims of their alerts and starts.
    ///   - isLive: `true` if log time follows the wall clock; `false` if it is that of a recorded feed.
    ///   - report: receives lines for operators about the loading, before the initialiser returns.
    package convenience init(
        loop: Loop, rules: Rules = .builtIn, limits: ActivityLimits = ActivityLimits(), shards count: Int,
        pinsShards: Bool = false, makeTransports: [TransportFactory], apps: [AppID] = [], clock: ClockSource = .system,
        activities: (any InitialActivities)? = nil, subscribers: (any SubscriberSource)? = nil, storedCount: Int? = nil,
        keepsPeople: Bool = false, isLive: Bool, report: (String) -> Void = { _ in }
    ) throws {
        var takeFeedback: (() -> Void)?
        let wakeup = try Wakeup(loop: loop) { takeFeedback?() }
        let threads: ShardThreads
        do {
            threads = try ShardThreads(
                ShardThreads.Placement(apps: apps, shardsPerApp: count, isPinned: pinsShards),
                ShardThreads.Load(
                    activities: activities, subscribers: subscribers, storedCount: storedCount,
                    topicLimits: rules.limits),
                ShardThread.Options(
                    limits: limits, lineups: rules.lineups, clock: clock, keepsPeople: keepsPeople),
                makeTransports: makeTransports, report: report, core: wakeup.signal)
        } catch {
            wakeup.close()
            throw error
        }
        self.init(rules: rules, shards: threads.links, perApp: count, apps: apps, isLive: isLive) { take in
            threads.join(take)
            wakeup.close()
            loop.onTurn = nil
        }
        loading.queues = threads.loading
        takeFeedback = { [unowned self] in self.takeFeedback() }
        loop.onTurn = { [unowned self] in turnIsOver() }
    }

    // MARK: Deciding

    /// Log time of the last event or tick.
    package var now: FeedTime { decisionCore.now }
    package var nextDeadline: FeedTime? { decisionCore.nextDeadline }
    var flushesUntil: FeedTime? { decisionCore.flushesUntil }
    package var topics: some RandomAccessCollection<TopicView> { decisionCore.topics }

    /// Returns a topic's state; `nil` if the topic is not remembered.
    package func state(of topic: TopicID) -> TopicState? { decisionCore.topic(topic).map(TopicState.init) }

    /// Is `true` while the way to a shard is full: the next event waits until `coreDidRelieve`. One app's shards hold back those of other
    /// apps only if they are far behind.
    package var isCongested: Bool { shards.isCongested }

    package func apply(_ event: FeedEvent, now: FeedTime, wall: FeedTime? = nil) {
        decisionCore.apply(event, now: now, wall: wall, into: &decisions)
        hand()
        let notices = feedWatch.notices(of: event, runningTopics: decisionCore.runningTopicCount)
        if !isRecalling { for notice in notices { delegate?.coreDidReport(notice) } }
    }

    /// Adopts other rules for later decisions, in a recall.
    ///
    /// - Parameters:
    ///   - logged: the same rules in the log.
    ///   - position: position of their entry.
    func adopt(_ rules: Rules, _ logged: LogRules, at position: LogPosition, now: FeedTime) {
        let adoption = recalling?.adopt(logged, at: position)
        // Alerts may contain words that other rules hide.
        if adoption == .asOthers, recentAlerts != nil { keepAlerts() }
        decisionCore.adopt(rules, now: now, into: &decisions)
        // The core shows the new states at this entry, so that each later recall gives their versions the same numbers.
        if adoption != .asTheFirst { decisionCore.showOtherwise(into: &decisions) }
        hand()
    }

    package func reject(_ rejection: FeedRejection, now: FeedTime) {
        decisionCore.reject(rejection, now: now, into: &decisions)
        hand()
    }

    package func advance(to now: FeedTime) {
        decisionCore.advance(to: now, into: &decisions)
        hand()
    }

    /// Ends the feed: changes that wait for their minimum interval are published now.
    package func finish() {
        decisionCore.finish(into: &decisions)
        hand()
    }

    /// Begins to decide the entries of earlier runs again. Until `endRecall` the delegate gets decisions, records and forgotten topics, but no
    /// publications and reports, and the shards get nothing.
    package func beginRecall() { recalling = RecalledRules() }

    /// Keeps alerts for a checkpoint, and for activities that they have not reached by the end of a recall. Called before anything is decided.
    package func keepAlerts() { recentAlerts = RecentAlerts() }

    /// Keeps completions. Called before a recall.
    ///
    /// - Parameter earlier: completions of earlier processes.
    package func keepCompletions(_ earlier: EarlierCompletions) { completions.keep(earlier) }

    /// Removes and returns the completions of earlier processes.
    ///
    /// - Returns: `nil` if they are void.
    package func takeEarlierCompletions() -> EarlierCompletions? { completions.takeEarlier() }

    /// Removes and returns the places of stored completions of other states than the topics' at the end of the recall.
    package func takeOutdatedCompletions() -> [CompletionKey] { completions.takeOutdated() }

    /// Ends a recall. The shards get each remembered topic's state, and no alert.
    package func endRecall() { _ = endRecall(within: nil) }

    /// Ends a recall.
    ///
    /// - Parameter horizon: bounds on the alerts that go on; `nil`: none does.
    /// - Returns: the alerts that go on.
    func endRecall(within horizon: AlertHorizon?) -> [RecentAlert] {
        guard isRecalling else { return [] }
        // The present build may decide otherwise than the earlier one although no entry of the log says so.
        decisionCore.showOtherwise(into: &decisions)
        hand()
        guard let recall = recalling.take() else { return [] }
        let found = horizon.flatMap { recentAlerts?.unfinished(since: $0.since, now: $0.now, wall: $0.wall()) } ?? []
        completions.noteChange(at: recall.changedAt)
        let newest = recall.changedAt != nil ? decisionCore.newestPublicationsAsShown : decisionCore.newestPublications
        // Log time alone says how much of a dismissal has passed. The wall clock cannot: downtimes move log time and wall time apart, and an end does not
        // tell how many of them it has seen.
        let publications = decisionCore.later(newest, at: now)
        publish(Resumption(publications, found))
        completions.noteShown(publications)
        if completions.areKept {
            loading.begin()
            shards.send(.load)
        }
        return found.map(\.entry)
    }

    /// Ends the loading of the store's cards: all shards have all of theirs.
    ///
    /// - Parameter forgotten: topics forgotten during the loading.
    private func endLoading(_ forgotten: Set<TopicID>) {
        completions.joins.noteSent(at: now)
        sendJoinTimes()
        shards.send(.endLoading)
        for topic in forgotten { shards.send(.forget(topic)) }
        delegate?.coreDidLoad()
    }

    /// Withholds the topic's states so far in this recall.
    func forgetPublication(of topic: TopicID) { decisionCore.forgetPublication(of: topic) }

    package var isRecalling: Bool { recalling != nil }

    /// Hands the decisions to the shards, outside a recall, and to the delegate.
    private func hand() {
        if isRecalling { recollect() } else { handToShards() }
        delegate?.coreDidDecide(decisions)
        for topic in decisionCore.forgotten {
            completions.forget(topic.birth, apps: shards.appCount)
            delegate?.coreDidForget(topic)
        }
        decisions.removeAll(keepingCapacity: true)
    }

    private func recollect() {
        for decision in decisions {
            switch decision {
            case .publish(let publication): noteAlert(of: publication)
            case .revokeAlert(let topic, let cause): recentAlerts?.revoke(cause: cause, of: topic)
            case .forget(let topic):
                recentAlerts?.forget(topic)
                apps.forget(topic)
            case .order(let operation, let id): _ = apps.apply(operation, for: id)
            case .record(let record):
                records.note(record)
                delegate?.coreDidRecord(record, of: nil)
            }
        }
    }

    private func handToShards() {
        // A shard without followers of a topic reports that once it has the version, and its report covers all earlier joiners.
        if !decisions.isEmpty { sendJoinTimes() }
        let delegate = delegate
        var publication: Publication?
        // By index: the variable of a loop is a copy of each decision with all its texts.
        for index in decisions.indices {
            switch decisions[index] {
            case .publish(let new):
                publication = new
                noteAlert(of: new)
                delegate?.coreWillPublish(new)
                publish(new)
            case .revokeAlert(let topic, let cause):
                recentAlerts?.revoke(cause: cause, of: topic)
                shards.send(.revokeAlert(topic: topic, cause: cause))
            case .forget(let topic):
                recentAlerts?.forget(topic)
                apps.forget(topic)
                if !loading.keeps(topic) { shards.send(.forget(topic)) }
            case .order(let operation, let app): order(operation, for: app)
            case .record(let record):
                records.note(record)
                delegate?.coreDidRecord(record, of: record.outcome == .published ? publication : nil)
                publication = nil
            }
        }
    }

    private func noteAlert(of publication: Publication) {
        recentAlerts?.note(publication, withheldFrom: apps.withholding(publication))
    }

    private func publish(_ publication: Publication) {
        // The id means another topic from here on.
        if loading.begins(publication.topicID) { shards.send(.forget(publication.topicID)) }
        var count = 0
        for app in apps.indices where publish(publication, toApp: app) { count += shards.perApp }
        if count > 0 { publications.track(publication.serial, of: publication.topicID, shards: count) }
    }

    /// - Returns: `false` if the app's orders keep the publication from it.
    private func publish(_ publication: Publication, _ alerts: [UnfinishedAlert] = [], toApp app: Int) -> Bool {
        guard let admitted = apps.admit(publication, app: app) else { return false }
        let id = apps.id(of: app)
        let isComplete = completions.areOf(admitted, app: id)
        let isCompleteInLineups = lineupsShow(admitted, app: id)
        shards.send(
            alerts.isEmpty && !isComplete && !isCompleteInLineups
                ? .publish(admitted)
                : .publishResumed(
                    ResumedPublication(
                        admitted, alerts, isComplete: isComplete, isCompleteInLineups: isCompleteInLineups)),
            toApp: app)
        return true
    }

    /// Returns whether the lineups with the publication's topic show it since an earlier process. The row of a topic whose dismissal was over after the
    /// completion may still be on their cards, and the store may lack the note of that.
    private func lineupsShow(_ publication: Publication, app: AppID?) -> Bool {
        guard let before = completions.joinersEnd(ofLineupsWith: publication, app: app) else { return false }
        guard let end = decisionCore.dismissalEnd(of: publication) else { return true }
        return end <= before || end > now
    }

    private func publish(_ resumption: Resumption) {
        for publication in resumption.publications { delegate?.coreWillPublish(publication) }
        var shardCounts: [UInt64: Int] = [:]
        for app in apps.indices {
            for (publication, alerts) in resumption.publications(forApp: apps.id(of: app))
            where publish(publication, apps.isQuieted(app) ? [] : alerts, toApp: app) {
                shardCounts[publication.serial, default: 0] += shards.perApp
            }
        }
        for publication in resumption.publications {
            if let count = shardCounts[publication.serial] {
                publications.track(publication.serial, of: publication.topicID, shards: count)
            }
        }
    }

    private func overtake(_ serial: UInt64) {
        if let topic = publications.overtake(serial) { delegate?.coreDidOvertake(serial, of: topic) }
    }

    private func order(_ operation: FeedEvent.Operation, for id: AppID) {
        guard let (app, commands) = apps.apply(operation, for: id) else {
            delegate?.coreDidReport("\(operation) for app \(id): there is no such app here")
            return
        }
        for command in commands {
            // A completion that still lacks other shards waits for these shards too, which get the publication only now.
            if case .publish(let publication) = command {
                publications.addShards(shards.perApp, to: publication.serial)
            }
            shards.send(command, toApp: app)
        }
    }

    // MARK: Shards

    /// Notifies a shard that its claims up to the ticket are durable.
    package func confirmClaims(_ ticket: UInt64, shard: Int) { shards[shard].send(.claimed(ticket)) }

    /// Asks a shard whether an activity is still over; `coreDidCheckRemoval` follows.
    func checkRemoval(_ id: UInt64, token: UInt64, shard: Int) { shards[shard].send(.checkRemoval(id, token: token)) }

    /// Makes the shards take the commands sent to them. The driver of a core calls it before it waits; a loop does that by itself.
    package func turnIsOver() {
        sendJoinTimes()
        shards.ring()
    }

    /// Sends the shards the log time before which they have all joiners.
    private func sendJoinTimes() {
        guard let (before, sent) = completions.joins.next(at: now) else { return }
        shards.send(.followed(before: before, sent: sent))
    }

    func broadcast(_ command: ShardCommand) { shards.send(command) }

    /// Sends a command to the subscriber's shard. Commands for one subscriber of an app go to one shard, in order.
    package func send(_ command: ShardCommand, forSubscriber key: UInt64, app: Int = 0) {
        if completions.areKept, command.joins { completions.joins.noteSent(at: now) }
        shards.send(command, forSubscriber: key, app: app)
    }

    /// Queues of the shards for the store's cards, by app, for a thread that reads them; empty without a store.
    var loadingQueues: [[LoadingQueue]] { loading.queues }

    /// Log time of the earliest joiner that is still to be sent; `nil` if none are on their way.
    var pendingJoin: FeedTime? {
        get { completions.joins.pending }
        set { completions.joins.pending = newValue }
    }

    /// Commands that wait for the shards.
    package var commandsWaiting: Int { shards.depth }
    package var counts: ShardCounts { figures.counts }
    package var freshness: FreshnessReport { figures.freshness }

    /// - Parameter answer: called with `nil` if the engine stops before it knows.
    func ask(
        _ activity: ActivityID, ofSubscriber key: UInt64, app: Int, about cause: String, in topic: TopicID,
        answer: @escaping (AlertDisposition?) -> Void
    ) {
        send(
            .reportDisposition(questions.dispositions.ask(answer), activity, topic, cause: cause), forSubscriber: key,
            app: app)
    }

    /// - Parameters:
    ///   - until: deadline, compared with the argument of `withdrawSettles`.
    ///   - settled: called once nothing that the shards were given before is in flight, or once the time is over.
    package func settle(until: MonotonicTime = .never, _ settled: @escaping (Settlement) -> Void) {
        broadcast(.reportQuiet(questions.settles.ask(until: until, settled)))
    }

    /// Answers callers of `settle` whose time is over.
    func withdrawSettles(at now: MonotonicTime) { for answer in questions.settles.withdraw(at: now) { answer() } }

    /// Time for the next call of `withdrawSettles`; `nil` if no settle has a deadline.
    var nextSettleDeadline: MonotonicTime? { questions.settles.nextDeadline }

    /// Pending calls of `settle`.
    var settlesWaiting: Int { questions.settles.count }

    /// Takes the shards' feedback and sends commands that waited for room. Called whenever a shard wakes the core.
    package func takeFeedback() {
        for index in shards.indices {
            shards[index].drainFeedback { take($0, from: index) }
            let wasCongested = shards[index].isCongested
            shards[index].flush()
            if wasCongested, !isCongested { delegate?.coreDidRelieve() }
        }
        askPostponed()
        turnIsOver()
    }

    private func take(_ fact: ShardFeedback, from index: Int) {
        switch fact {
        case .completed(let serial, let at):
            guard let completion = publications.complete(serial, at: at) else { return }
            delegate?.coreDidComplete(serial, of: completion.topic, at: completion.at)
        case .overtaken(let serial): overtake(serial)
        case .deadToken(let id): delegate?.coreDidLoseToken(of: id)
        case .removed(let id, let token):
            delegate?.coreDidRemove(id, token: token, shard: index)
        case .removalChecked(let id, let token, let isOver):
            delegate?.coreDidCheckRemoval(id, token: token, isOver: isOver)
        case .fate(let id, let fate): delegate?.coreDidLearn(fate, of: id)
        case .disposition(let number, let disposition): questions.dispositions.close(number)?(disposition)
        case .quiet(let question, let isComplete):
            for answer in questions.settles.answer(question, isComplete: isComplete, from: index) { answer() }
        case .counted(let counts): figures.update(counts, of: index)
        case .fresh(let report): figures.update(report, of: index)
        case .ready:
            if loading.noteReady() { delegate?.coreDidBecomeReady() }
        case .loaded:
            if let forgotten = loading.noteLoaded() { endLoading(forgotten) }
        case .topicsCompleted(let reports): take(reports, from: index)
        case .showsAgain:
            completions.removeReports()
            delegate?.coreWillShowAgain()
        case .claims(let request):
            let app = apps.id(of: index / shards.perApp)
            let claims = StoredClaims(request.claims, starts: request.starts, app: app, now: now)
            delegate?.coreDidClaim(claims, request.ticket, shard: index)
        case .stampsReach(let ceiling): delegate?.coreDidReach(stamp: ceiling)
        case .report(let text): delegate?.coreDidReport(text)
        }
    }

    private func take(_ reports: [TopicCompletion], from index: Int) {
        let (app, shard) = index.quotientAndRemainder(dividingBy: shards.perApp)
        var whole: [TopicCompletion] = []
        for report in reports where decisionCore.isNewest(report.publication) {
            if let completion = completions.take(report, app: app, shard: shard) { whole.append(completion) }
            guard report.asksOthers else { continue }
            if isCongested { completions.postpone(report, app: app) } else { ask(about: report, app: app) }
        }
        if !whole.isEmpty { delegate?.coreDidComplete(whole, app: app) }
    }

    /// Asks the shards of an app that have not reported as much about the topic of a report.
    private func ask(about report: TopicCompletion, app: Int) {
        for other in completions.takeBehind(report, app: app) {
            shards[app * shards.perApp + other].send(.reportCompletion(report.publication, of: report.scope))
        }
    }

    /// Asks the questions about completions that were put off, as far as there is room on the way to the shards.
    private func askPostponed() {
        while completions.hasPostponed, !isCongested, let (report, app) = completions.takePostponed() {
            if decisionCore.isNewest(report.publication) { ask(about: report, app: app) }
        }
    }

    /// Reports the fate of an activity of the earlier process to the delegate once more.
    func report(_ fate: ActivityFate, of card: ActivityID) { delegate?.coreDidLearn(fate, of: card) }

    /// Ends the shards, takes their remaining feedback and answers all pending questions. Blocks until the shards' threads, if any, have
    /// ended.
    ///
    /// - Parameter timeout: time for pending answers of APNs and for closing the connections. `nil`: the transport's own.
    package func stop(within timeout: Duration? = nil) {
        shards.stop(within: timeout)
        shards.join { take($0, from: $1) }
        let answer = questions.closeAll()
        answer()
    }

    /// Returns a description of an invariant that is violated between two calls; `nil` if all hold.
    func violation() -> String? {
        publications.violation(shards: shards.count) ?? questions.violation() ?? completions.violation()
    }
}
