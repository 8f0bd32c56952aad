import FanfareDecisions
import FanfareFanOut
import FanfareLoop
import FanfareModel

/// The decision core, and the shards as it sees them: what they tell is taken in `takeFeedback`. It has no loop; whoever has one feeds
/// it, a replay from files, the embedding program through a mailbox (`CoreTurn`). Confined to the core's thread.
final class EngineCore {
    private var decisionCore: DecisionCore
    private var decisions: [Decision] = []
    /// Of one app after the other, as many for each.
    private let shards: [ShardLink]
    private let shardsPerApp: Int
    /// Waits until the shards have ended, which have been told to, and hands over what they had still to tell.
    private let join: ((ShardFeedback, _ shard: Int) -> Void) -> Void
    /// By their place among the shards; empty where nothing is sent to APNs.
    private let apps: [AppID]
    private var appOrders: [AppOrders]
    /// Newest figures of each shard.
    private var shardCounts: [ShardCounts]
    private var shardFreshness: [FreshnessReport]
    /// Shards that have not yet told of a publication's completion, and the latest time told.
    private var open: [UInt64: (topic: TopicID, shardsLeft: Int, latest: Int64?)] = [:]
    /// Questions on their way through a shard.
    private var questions: [UInt64: (AlertDisposition?) -> Void] = [:]
    private var questionsAsked: UInt64 = 0
    private var settling: SettleQueue
    private var unreadyShards: Int
    private var unknownWords: UnknownWords
    private var topicRoom: TopicRoom

    /// Each record, with the publication it tells of; in decision order.
    var onRecord: ((DecisionRecord, Publication?) -> Void)?
    /// Before any shard is told of it.
    var onPublication: ((Publication) -> Void)?
    /// As it stood when it was forgotten.
    var onForgotten: ((DecisionCore.TopicView) -> Void)?
    /// Everything that one event or moment led to, after it was handed to the shards.
    var onDecisions: (([Decision]) -> Void)?
    /// The last activity anywhere has this publication or a newer one. Monotonic nanoseconds; `nil`: there was nobody who lacked it.
    var onCompleted: ((_ serial: UInt64, _ topic: TopicID, _ at: Int64?) -> Void)?
    /// So many newer ones have followed that its completion is not told apart: a newer one's says so.
    var onOvertaken: ((_ serial: UInt64, _ topic: TopicID) -> Void)?
    var onDeadToken: ((ActivityID) -> Void)?
    var onFate: ((ActivityID, ActivityFate) -> Void)?
    var onReport: ((String) -> Void)?
    /// Every shard's transport could deliver now.
    var onReady: (() -> Void)?
    /// Shards have taken what they had no room for: events may come in again.
    var onRelief: (() -> Void)?

    /// - Parameters:
    ///   - shards: of one app after the other, as many for each.
    ///   - apps: by their place among the shards; empty where nothing is sent to APNs.
    ///   - join: waits until the shards have ended, which have been told to, and hands over what they had still to tell.
    init(
        rules: Rules = .builtIn, shards: [ShardLink], perApp shardsPerApp: Int, apps: [AppID] = [],
        join: @escaping ((ShardFeedback, _ shard: Int) -> Void) -> Void = { _ in }
    ) {
        decisionCore = DecisionCore(rules: rules)
        unknownWords = UnknownWords(rules: rules)
        topicRoom = TopicRoom(topicsMax: rules.limits.topicsMax)
        self.shards = shards
        self.shardsPerApp = shardsPerApp
        self.apps = apps
        self.join = join
        appOrders = Array(repeating: AppOrders(), count: shards.count / shardsPerApp)
        shardCounts = Array(repeating: ShardCounts(), count: shards.count)
        shardFreshness = Array(repeating: FreshnessReport(), count: shards.count)
        settling = SettleQueue(shards: shards.count)
        unreadyShards = shards.count
        for shard in shards {
            shard.waitingMax = appOrders.count > 1 ? ShardLink.waitingBesideOthersMax : 0
            shard.onOvertaken = { [unowned self] in overtake($0) }
        }
    }

    /// With shards on threads of their own, which wake the loop when they have something to tell.
    ///
    /// - Parameters:
    ///   - load: fills a shard before it starts, on its own thread.
    ///   - subscribers: handed to the shards, too.
    ///   - report: takes lines for operators of what was loaded, before this returns.
    convenience init(
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
        }
        takeFeedback = { [unowned self] in self.takeFeedback() }
    }

    // MARK: Deciding

    var nextDeadline: FeedTime? { decisionCore.nextDeadline }
    var flushesUntil: FeedTime? { decisionCore.flushesUntil }
    var topics: some RandomAccessCollection<DecisionCore.TopicView> { decisionCore.topics }

    /// Full somewhere: hold back the next event until `onRelief`. One app's shards hold back those of others only when they are far
    /// behind.
    var isCongested: Bool { shards.contains { $0.isCongested } }

    func apply(_ event: FeedEvent, now: FeedTime, wall: FeedTime? = nil) {
        decisionCore.apply(event, now: now, wall: wall, into: &decisions)
        hand()
        if let notice = unknownWords.notice(of: event) { onReport?(notice) }
        if let notice = topicRoom.notice(of: decisionCore.runningTopicCount) { onReport?(notice) }
    }

    func reject(_ rejection: FeedRejection, now: FeedTime) {
        decisionCore.reject(rejection, now: now, into: &decisions)
        hand()
    }

    func advance(to now: FeedTime) {
        decisionCore.advance(to: now, into: &decisions)
        hand()
    }

    /// The feed is over: what waits for its minimum interval goes out now.
    func finish() {
        decisionCore.finish(into: &decisions)
        hand()
    }

    private func hand() {
        var publication: Publication?
        for decision in decisions {
            switch decision {
            case .publish(let new):
                publication = new
                onPublication?(new)
                publish(new)
            case .revokeAlert(let topic, let cause): broadcast(.revokeAlert(topic: topic, cause: cause))
            case .forget(let topic):
                for app in appOrders.indices { appOrders[app].forget(topic) }
                broadcast(.forget(topic))
            case .order(let operation, let app): order(operation, for: app)
            case .record(let record):
                onRecord?(record, record.outcome == .published ? publication : nil)
                publication = nil
            }
        }
        onDecisions?(decisions)
        for topic in decisionCore.forgotten { onForgotten?(topic) }
        decisions.removeAll(keepingCapacity: true)
    }

    private func publish(_ publication: Publication) {
        var told = 0
        for app in appOrders.indices {
            guard let admitted = appOrders[app].admit(publication) else { continue }
            broadcast(.publish(admitted), to: app)
            told += shardsPerApp
        }
        if told > 0 { open[publication.serial] = (publication.topicID, told, nil) }
    }

    private func overtake(_ serial: UInt64) {
        if let publication = open.removeValue(forKey: serial) { onOvertaken?(serial, publication.topic) }
    }

    private func order(_ operation: FeedEvent.Operation, for id: AppID) {
        guard let app = apps.firstIndex(of: id) else {
            onReport?("\(operation) for app \(id): there is no such app here")
            return
        }
        for command in appOrders[app].obey(operation) {
            // Where others still lack it, those who are told of it only now are waited for as well.
            if case .publish(let publication) = command { open[publication.serial]?.shardsLeft += shardsPerApp }
            broadcast(command, to: app)
        }
    }

    // MARK: Shards

    func broadcast(_ command: ShardCommand) { for shard in shards { shard.send(command) } }

    private func broadcast(_ command: ShardCommand, to app: Int) {
        for shard in shards[app * shardsPerApp..<(app + 1) * shardsPerApp] { shard.send(command) }
    }

    /// All commands for one subscriber of an app go to one shard, in order.
    func send(_ command: ShardCommand, forSubscriber key: UInt64, app: Int = 0) {
        shards[app * shardsPerApp + ShardPlace.index(ofSubscriber: key, of: shardsPerApp)].send(command)
    }

    var counts: ShardCounts { shardCounts.reduce(ShardCounts(), +) }
    var freshness: FreshnessReport { shardFreshness.reduce(FreshnessReport(), +) }

    /// - Parameter answer: given `nil` when the engine stops before it knows.
    func ask(
        _ activity: ActivityID, ofSubscriber key: UInt64, app: Int, about cause: String, in topic: TopicID,
        answer: @escaping (AlertDisposition?) -> Void
    ) {
        questionsAsked += 1
        questions[questionsAsked] = answer
        send(.tellDisposition(questionsAsked, activity, topic, cause: cause), forSubscriber: key, app: app)
    }

    /// - Parameters:
    ///   - until: monotonic nanoseconds, as `withdrawSettles` is told them.
    ///   - settled: called once nothing that was given to the shards before is on its way any more, or when the time is over.
    func settle(until: Int64 = .max, _ settled: @escaping (Settlement) -> Void) {
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
            if wasCongested, !isCongested { onRelief?() }
        }
    }

    private func take(_ fact: ShardFeedback, from index: Int) {
        switch fact {
        case .completed(let serial, let at):
            guard var publication = open[serial] else { return }
            publication.shardsLeft -= 1
            publication.latest = [publication.latest, at].compactMap(\.self).max()
            open[serial] = publication.shardsLeft > 0 ? publication : nil
            if publication.shardsLeft == 0 { onCompleted?(serial, publication.topic, publication.latest) }
        case .overtaken(let serial): overtake(serial)
        case .deadToken(let id): onDeadToken?(id)
        case .fate(let id, let fate): onFate?(id, fate)
        case .disposition(let number, let disposition): questions.removeValue(forKey: number)?(disposition)
        case .quiet(let question, let isComplete): settling.answer(question, isComplete: isComplete, from: index)
        case .counted(let counts): shardCounts[index] = counts
        case .fresh(let report): shardFreshness[index] = report
        case .ready:
            unreadyShards -= 1
            if unreadyShards == 0 { onReady?() }
        case .report(let text): onReport?(text)
        }
    }

    /// Ends the shards, takes what they had still to tell, and answers whoever waits for an answer. Waits for the shards' threads, where
    /// they have any.
    ///
    /// - Parameter timeout: for what is on its way to come back, and for the farewell of the connections. `nil`: the transport's own.
    func stop(within timeout: Duration? = nil) {
        for shard in shards { shard.stop(within: timeout) }
        join { take($0, from: $1) }
        let unanswered = questions.values
        questions = [:]
        for answer in unanswered { answer(nil) }
        settling.withdrawAll()
    }
}

/// Which subscribers are a shard's.
struct ShardPlace: Sendable {
    /// Each app has shards of its own: nothing of one waits for another, and dead tokens of one say nothing about another.
    let app: Int
    /// Among the shards of its app.
    let index: Int
    let count: Int

    func owns(subscriber key: UInt64) -> Bool { ShardPlace.index(ofSubscriber: key, of: count) == index }

    /// A slice of the subscribers by hash; the low bits are left to whoever hashes into tables.
    static func index(ofSubscriber key: UInt64, of count: Int) -> Int { Int((key.mixed >> 32) % UInt64(count)) }
}
