import FanfareCore
import FanfareLoop

/// The core's thread: the decision core, and the shards as it sees them. Whoever owns the loop feeds it: a replay from files, the
/// embedding program through a mailbox. Confined to its loop's thread.
final class EngineCore {
    private let loop: Loop
    private var decisionCore: DecisionCore
    private var decisions: [Decision] = []
    /// Of one app after the other, as many for each.
    private var shards: [ShardThread] = []
    private let shardsPerApp: Int
    /// By their place among the shards; empty where nothing is sent to APNs.
    private let apps: [AppID]
    private var appOrders: [AppOrders]
    private var wakeup: Wakeup?
    /// Newest figures of each shard.
    private var shardCounts: [ShardCounts]
    private var shardFreshness: [FreshnessReport]
    /// Shards that have not yet told of a publication's completion, and the latest time told.
    private var open: [UInt64: (shardsLeft: Int, latest: Int64)] = [:]
    /// Questions on their way through a shard.
    private var questions: [UInt64: (AlertDisposition) -> Void] = [:]
    private var questionsAsked: UInt64 = 0
    private var quietRequest: UInt64 = 0
    private var quietShardsLeft = 0
    private var unreadyShards: Int

    /// Each record, with the publication it tells of; in decision order.
    var onRecord: ((DecisionRecord, Publication?) -> Void)?
    /// Everything that one event or moment led to, after it was handed to the shards.
    var onDecisions: (([Decision]) -> Void)?
    /// The last activity anywhere has this publication or a newer one. Monotonic nanoseconds.
    var onCompleted: ((_ serial: UInt64, _ at: Int64) -> Void)?
    var onDeadToken: ((ActivityID) -> Void)?
    var onFate: ((ActivityID, ActivityFate) -> Void)?
    var onReport: ((String) -> Void)?
    var onMisconfigured: ((String) -> Void)?
    /// Every shard's transport could deliver now.
    var onReady: (() -> Void)?
    /// Answers `askForQuiet`.
    var onQuiet: (() -> Void)?
    /// Shards have taken what they had no room for: events may come in again.
    var onRelief: (() -> Void)?

    init(
        loop: Loop, rules: Rules = .builtIn, limits: ActivityLimits = ActivityLimits(), shards count: Int,
        pinsShards: Bool = false, makeTransports: [TransportFactory], apps: [AppID] = [],
        load: (@Sendable (Shard, ShardPlace) throws -> Void)? = nil
    ) throws {
        self.loop = loop
        decisionCore = DecisionCore(rules: rules)
        shardsPerApp = count
        self.apps = apps
        appOrders = Array(repeating: AppOrders(), count: makeTransports.count)
        shardCounts = Array(repeating: ShardCounts(), count: count * makeTransports.count)
        shardFreshness = Array(repeating: FreshnessReport(), count: count * makeTransports.count)
        unreadyShards = count * makeTransports.count
        let wakeup = try Wakeup(loop: loop) { [unowned self] in takeFeedback() }
        self.wakeup = wakeup
        for (app, makeTransport) in makeTransports.enumerated() {
            for index in 0..<count {
                shards.append(
                    try ShardThread(
                        ShardPlace(app: app, index: index, count: count), limits: limits, lineups: rules.lineups,
                        isPinned: pinsShards,
                        makeTransport: makeTransport, load: load, core: wakeup.signal))
            }
        }
    }

    // MARK: Deciding

    var nextDeadline: FeedTime? { decisionCore.nextDeadline }
    var topics: some RandomAccessCollection<DecisionCore.TopicView> { decisionCore.topics }

    /// Full somewhere: hold back the next event until `onRelief`.
    var isCongested: Bool { shards.contains { $0.isCongested } }

    func apply(_ event: FeedEvent, now: FeedTime) {
        decisionCore.apply(event, now: now, into: &decisions)
        hand()
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
                publish(new)
            case .revokeAlert(let topic, let cause): broadcast(.revokeAlert(topic: topic, cause: cause))
            case .order(let operation, let app): order(operation, for: app)
            case .record(let record):
                onRecord?(record, record.outcome == .published ? publication : nil)
                publication = nil
            }
        }
        onDecisions?(decisions)
        decisions.removeAll(keepingCapacity: true)
    }

    private func publish(_ publication: Publication) {
        var told = 0
        for app in appOrders.indices {
            guard let admitted = appOrders[app].admit(publication) else { continue }
            broadcast(.publish(admitted), to: app)
            told += shardsPerApp
        }
        if told > 0 { open[publication.serial] = (told, 0) }
    }

    private func order(_ operation: FeedEvent.Operation, for id: AppID) {
        guard let app = apps.firstIndex(of: id) else {
            onReport?("\(operation) for app \(id): there is no such app here")
            return
        }
        for command in appOrders[app].obey(operation) { broadcast(command, to: app) }
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

    func ask(
        _ activity: ActivityID, ofSubscriber key: UInt64, app: Int, about cause: String, in topic: TopicID,
        answer: @escaping (AlertDisposition) -> Void
    ) {
        questionsAsked += 1
        questions[questionsAsked] = answer
        send(.tellDisposition(questionsAsked, activity, topic, cause: cause), forSubscriber: key, app: app)
    }

    /// `onQuiet` is called once every shard has delivered everything it was given before.
    func askForQuiet() {
        quietRequest += 1
        quietShardsLeft = shards.count
        broadcast(.reportQuiet(quietRequest))
    }

    private func takeFeedback() {
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
            publication.latest = max(publication.latest, at)
            open[serial] = publication.shardsLeft > 0 ? publication : nil
            if publication.shardsLeft == 0 { onCompleted?(serial, publication.latest) }
        case .overtaken(let serial): open[serial] = nil
        case .deadToken(let id): onDeadToken?(id)
        case .fate(let id, let fate): onFate?(id, fate)
        case .disposition(let number, let disposition): questions.removeValue(forKey: number)?(disposition)
        case .quiet(let request):
            guard request == quietRequest else { return }
            quietShardsLeft -= 1
            if quietShardsLeft == 0 { onQuiet?() }
        case .counted(let counts): shardCounts[index] = counts
        case .fresh(let report): shardFreshness[index] = report
        case .ready:
            unreadyShards -= 1
            if unreadyShards == 0 { onReady?() }
        case .report(let text): onReport?(text)
        case .misconfigured(let text): onMisconfigured?(text)
        }
    }

    /// Ends the shards' threads and waits for them. What is on its way has the transport's drain time to come back.
    func stop() {
        for shard in shards { shard.stop() }
        for shard in shards { shard.join() }
        takeFeedback()
        wakeup?.close()
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
