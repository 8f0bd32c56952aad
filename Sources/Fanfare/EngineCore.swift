package import FanfareDecisions
package import FanfareFanOut
package import FanfareLoop
package import FanfareModel

/// The decision core, and the shards as it sees them: what they tell is taken in `takeFeedback`. It has no loop; whoever has one feeds
/// it, a replay from files, the embedding program through a mailbox (`CoreTurn`), and is its delegate. Confined to the core's thread.
package final class EngineCore {
    /// Told of everything from the moment at which it is set. It owns the core, or outlives it; `nil`: nobody listens.
    package unowned var delegate: (any EngineCoreDelegate)?
    // Confined to one thread, and what it calls does not come back into it while it works: checking each access at run time costs as much
    // as some of them.
    @exclusivity(unchecked) private var decisionCore: DecisionCore
    @exclusivity(unchecked) private var decisions: [Decision] = []
    @exclusivity(unchecked) private var feedWatch: FeedWatch
    /// By their place among the shards; empty where nothing is sent to APNs.
    private let apps: [AppID]
    @exclusivity(unchecked) private var appOrders: [AppOrders]
    private let shards: ShardLinks
    private var unreadyShards: Int
    /// Waits until the shards have ended, which have been told to, and hands over what they had still to tell.
    private let join: ((ShardFeedback, _ shard: Int) -> Void) -> Void
    private var figures: ShardFigures
    @exclusivity(unchecked) private var publications = ShardCompletions()
    private var questions = DispositionQuestions()
    private var settling: SettleQueue

    /// - Parameters:
    ///   - links: of one app after the other, as many for each.
    ///   - apps: by their place among the shards; empty where nothing is sent to APNs.
    ///   - join: waits until the shards have ended, which have been told to, and hands over what they had still to tell.
    init(
        rules: Rules = .builtIn, shards links: [ShardLink], perApp: Int, apps: [AppID] = [],
        join: @escaping ((ShardFeedback, _ shard: Int) -> Void) -> Void = { _ in }
    ) {
        decisionCore = DecisionCore(rules: rules)
        feedWatch = FeedWatch(rules: rules)
        self.apps = apps
        appOrders = Array(repeating: AppOrders(), count: links.count / perApp)
        unreadyShards = links.count
        self.join = join
        figures = ShardFigures(shards: links.count)
        settling = SettleQueue(shards: links.count)
        shards = ShardLinks(links, perApp: perApp)
        for link in links { link.onOvertaken = { [unowned self] in overtake($0) } }
    }

    /// With shards on threads of their own, which wake the loop when they have something to tell.
    ///
    /// - Parameters:
    ///   - load: fills a shard before it starts, on its own thread.
    ///   - subscribers: handed to the shards, too.
    ///   - report: takes lines for operators of what was loaded, before this returns.
    package convenience init(
        loop: Loop, rules: Rules = .builtIn, limits: ActivityLimits = ActivityLimits(), shards count: Int,
        pinsShards: Bool = false, makeTransports: [TransportFactory], apps: [AppID] = [], clock: ClockSource = .system,
        load: (@Sendable (Shard, ShardPlace, Moment) throws -> Void)? = nil,
        subscribers: (any SubscriberSource)? = nil, report: (String) -> Void = { _ in }
    ) throws {
        var takeFeedback: (() -> Void)?
        let wakeup = try Wakeup(loop: loop) { takeFeedback?() }
        let threads: ShardThreads
        do {
            threads = try ShardThreads(
                count,
                ShardThread.Options(limits: limits, lineups: rules.lineups, clock: clock),
                pinned: pinsShards, makeTransports: makeTransports, apps: apps, load: load, subscribers: subscribers,
                topicLimits: rules.limits, report: report, core: wakeup.signal)
        } catch {
            wakeup.close()
            throw error
        }
        self.init(rules: rules, shards: threads.links, perApp: count, apps: apps) { take in
            threads.join(take)
            wakeup.close()
            loop.onTurn = nil
        }
        takeFeedback = { [unowned self] in self.takeFeedback() }
        loop.onTurn = { [unowned self] in turnIsOver() }
    }

    // MARK: Deciding

    package var nextDeadline: FeedTime? { decisionCore.nextDeadline }
    var flushesUntil: FeedTime? { decisionCore.flushesUntil }
    package var topics: some RandomAccessCollection<DecisionCore.TopicView> { decisionCore.topics }

    /// What a topic shows; `nil`: it is not remembered.
    func state(of topic: TopicID) -> TopicState? { decisionCore.view(of: topic).map(TopicState.init) }

    /// Full somewhere: hold back the next event until `coreDidRelieve`. One app's shards hold back those of others only when they are
    /// far behind.
    package var isCongested: Bool { shards.isCongested }

    package func apply(_ event: FeedEvent, now: FeedTime, wall: FeedTime? = nil) {
        decisionCore.apply(event, now: now, wall: wall, into: &decisions)
        hand()
        for notice in feedWatch.notices(of: event, runningTopics: decisionCore.runningTopicCount) {
            delegate?.coreDidReport(notice)
        }
    }

    package func reject(_ rejection: FeedRejection, now: FeedTime) {
        decisionCore.reject(rejection, now: now, into: &decisions)
        hand()
    }

    package func advance(to now: FeedTime) {
        decisionCore.advance(to: now, into: &decisions)
        hand()
    }

    /// The feed is over: what waits for its minimum interval goes out now.
    package func finish() {
        decisionCore.finish(into: &decisions)
        hand()
    }

    /// Hands the decisions to the shards and to the delegate.
    private func hand() {
        let delegate = delegate
        var publication: Publication?
        for decision in decisions {
            switch decision {
            case .publish(let new):
                publication = new
                delegate?.coreWillPublish(new)
                publish(new)
            case .revokeAlert(let topic, let cause): shards.send(.revokeAlert(topic: topic, cause: cause))
            case .forget(let topic):
                for app in appOrders.indices { appOrders[app].forget(topic) }
                shards.send(.forget(topic))
            case .order(let operation, let app): order(operation, for: app)
            case .record(let record):
                delegate?.coreDidRecord(record, of: record.outcome == .published ? publication : nil)
                publication = nil
            }
        }
        delegate?.coreDidDecide(decisions)
        for topic in decisionCore.forgotten { delegate?.coreDidForget(topic) }
        decisions.removeAll(keepingCapacity: true)
    }

    private func publish(_ publication: Publication) {
        var told = 0
        for app in appOrders.indices {
            guard let admitted = appOrders[app].admit(publication) else { continue }
            shards.send(.publish(admitted), toApp: app)
            told += shards.perApp
        }
        if told > 0 { publications.open(publication.serial, of: publication.topicID, shards: told) }
    }

    private func overtake(_ serial: UInt64) {
        if let topic = publications.overtake(serial) { delegate?.coreDidOvertake(serial, of: topic) }
    }

    private func order(_ operation: FeedEvent.Operation, for id: AppID) {
        guard let app = apps.firstIndex(of: id) else {
            delegate?.coreDidReport("\(operation) for app \(id): there is no such app here")
            return
        }
        for command in appOrders[app].obey(operation) {
            // Where others still lack it, those who are told of it only now are waited for as well.
            if case .publish(let publication) = command {
                publications.addShards(shards.perApp, to: publication.serial)
            }
            shards.send(command, toApp: app)
        }
    }

    // MARK: Shards

    /// The shards take what was sent to them. Whoever drives a core calls it before it waits for anything; with a loop, that does.
    func turnIsOver() { shards.ring() }

    func broadcast(_ command: ShardCommand) { shards.send(command) }

    /// All commands for one subscriber of an app go to one shard, in order.
    package func send(_ command: ShardCommand, forSubscriber key: UInt64, app: Int = 0) {
        shards.send(command, forSubscriber: key, app: app)
    }

    package var counts: ShardCounts { figures.counts }
    package var freshness: FreshnessReport { figures.freshness }

    /// - Parameter answer: given `nil` when the engine stops before it knows.
    func ask(
        _ activity: ActivityID, ofSubscriber key: UInt64, app: Int, about cause: String, in topic: TopicID,
        answer: @escaping (AlertDisposition?) -> Void
    ) {
        send(.tellDisposition(questions.ask(answer), activity, topic, cause: cause), forSubscriber: key, app: app)
    }

    /// - Parameters:
    ///   - until: monotonic nanoseconds, as `withdrawSettles` is told them.
    ///   - settled: called once nothing that was given to the shards before is on its way any more, or when the time is over.
    package func settle(until: Int64 = .max, _ settled: @escaping (Settlement) -> Void) {
        broadcast(.reportQuiet(settling.ask(until: until, settled)))
    }

    /// Who has waited for long enough is told so.
    func withdrawSettles(at now: Int64) { settling.withdraw(at: now) }

    /// Those who wait until everybody has what was sent before.
    var settlesWaiting: Int { settling.count }

    /// What the shards have told, and room for what waits for them. Each time a shard wakes the core.
    func takeFeedback() {
        for index in shards.indices {
            shards[index].hear { take($0, from: index) }
            let wasCongested = shards[index].isCongested
            shards[index].flush()
            if wasCongested, !isCongested { delegate?.coreDidRelieve() }
        }
        turnIsOver()
    }

    private func take(_ fact: ShardFeedback, from index: Int) {
        switch fact {
        case .completed(let serial, let at):
            guard let completion = publications.complete(serial, at: at) else { return }
            delegate?.coreDidComplete(serial, of: completion.topic, at: completion.at)
        case .overtaken(let serial): overtake(serial)
        case .deadToken(let id): delegate?.coreDidLoseToken(of: id)
        case .fate(let id, let fate): delegate?.coreDidLearn(fate, of: id)
        case .disposition(let number, let disposition): questions.close(number)?(disposition)
        case .quiet(let question, let isComplete): settling.answer(question, isComplete: isComplete, from: index)
        case .counted(let counts): figures.update(counts, of: index)
        case .fresh(let report): figures.update(report, of: index)
        case .ready:
            unreadyShards -= 1
            if unreadyShards == 0 { delegate?.coreDidBecomeReady() }
        case .report(let text): delegate?.coreDidReport(text)
        }
    }

    /// Ends the shards, takes what they had still to tell, and answers whoever waits for an answer. Waits for the shards' threads, where
    /// they have any.
    ///
    /// - Parameter timeout: for what is on its way to come back, and for the farewell of the connections. `nil`: the transport's own.
    package func stop(within timeout: Duration? = nil) {
        shards.stop(within: timeout)
        join { take($0, from: $1) }
        for answer in questions.closeAll() { answer(nil) }
        settling.withdrawAll()
    }

    /// What does not hold, of what holds between any two calls.
    func violation() -> String? { publications.violation(shards: shards.count) ?? questions.violation() }
}
