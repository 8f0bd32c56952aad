import FanfareAPNs
import FanfareFeeds
import FanfareJSON
import FanfareLoop
import FanfareModel
import FanfareReplay
import Testing

@testable import APNsSimulator
@testable import FanfareFanOut

/// One phone that follows one topic of a feed, or several in a lineup, and the stages between the two: decoder, decision core,
/// shard, connection pool, TLS and the simulator. The pushes of one decision have been accepted before the next one is applied, so the
/// story depends on the feed alone.
final class StoryStage {
    /// The push that the phone gets at one moment of the feed.
    struct Frame {
        let now: FeedTime
        let state: JSONObject
        /// Short forms as the decision core passes them to a lineup; the state has none if the rules put none into it.
        let short: JSONObject
        let alert: JSONObject?
        /// Time for which the card stays after its end.
        let dismissAfter: Duration?
    }

    private struct Step {
        let now: FeedTime
        /// The command; `nil` for a moment at which the shard has work of its own.
        let command: ShardCommand?
    }

    /// The shard in the feed's own time. The pool beside it has the present time, in which its provider token must
    /// be valid, and which stands still: no push has to wait.
    private final class InFeedTime: DeliverySource {
        let shard = Shard()
        var moment: Moment

        init(_ moment: Moment) { self.moment = moment }

        func pullByLot(_ random: UInt64, at _: Moment, into batch: inout DeliveryBatch) {
            shard.pullByLot(random, at: moment, into: &batch)
        }

        func pull(limit: Int, at _: Moment, into batch: inout DeliveryBatch) {
            shard.pull(limit: limit, at: moment, into: &batch)
        }
        func complete(_ completions: [DeliveryCompletion], at _: Moment) { shard.complete(completions, at: moment) }
    }

    /// - Parameter paths: the feed; topics other than the one followed are decided as well.
    static func frames(of audience: AudienceKey, in paths: [String]) throws -> [Frame] {
        try StoryStage(steps: steps(of: audience.topics, in: paths)).play(audience)
    }

    private static func steps(of topics: [TopicID], in paths: [String]) throws -> [Step] {
        var replay = try DecisionReplay(paths: paths)
        var steps: [Step] = []
        while let (_, decisions) = replay.next() {
            decisions.forEachStep { record, commands in
                for command in commands {
                    if case .publish(let publication) = command, !topics.contains(publication.topicID) { continue }
                    steps.append(Step(now: record.now, command: command))
                }
            }
        }
        return steps
    }

    private let scratch: Scratch
    private let loop: Loop
    private let simulator: Simulator
    private let source: InFeedTime
    private var pool: ConnectionPool! = nil  // set in `init`, whose callbacks need `self`
    private let steps: [Step]
    private var reports: [String] = []

    private init(steps: [Step]) throws {
        self.steps = steps
        scratch = try Scratch()
        try scratch.makeCertificates()
        let options = scratch.simulatorOptions
        loop = try Loop()
        simulator = try Simulator(options, loop: loop)
        source = InFeedTime(ConnectionPool.systemClock())
        pool = try ConnectionPool(
            loop: loop, source: source,
            credentials: ProviderToken(keyFile: scratch.path("apns.p8"), keyID: "K123456789", teamID: "T123456789"),
            configuration: PoolConfiguration(
                endpoint: Endpoint(host: "localhost", port: simulator.port, caFile: scratch.path("ca.pem")),
                bundleID: "com.example.app"), clock: { [start = source.moment] in start },
            onReport: { [unowned self] in reports.append($0) })
    }

    deinit { loop.close() }

    private func play(_ audience: AudienceKey) throws -> [Frame] {
        let first = try #require(steps.first, "the feed never shows \(audience)").now
        let start = source.moment
        var frames: [Frame] = []
        var rest = steps[...]
        var told: Step?
        var isDone = false
        source.shard.apply(.follow(ActivityID(1), audience, token: Array(repeating: 7, count: 80)), at: start)

        let deadline = LoopTimer(loop: loop) { [unowned self] in
            Issue.record("not told within three minutes: \(reports)")
            loop.stop()
        }
        deadline.start(after: .seconds(180))
        let before = loop.onTurn
        loop.onTurn = { [unowned self] in
            before?()
            // Ends when a push is in flight, whose answer comes in the next turn. Gathered alerts leave at their time.
            while pool.isReady, source.shard.sender.inFlight == 0,
                source.shard.membership.counts.owed == 0 || isGathering, !isDone
            {
                if let told { frames += accepted(after: frames.count, told) }
                told = next(of: &rest, since: first, start)
                guard let told else {
                    isDone = true
                    return pool.close { [loop] in loop.stop() }
                }
                let passed = (told.now - first).milliseconds
                source.moment = Moment(
                    wallMilliseconds: start.wallMilliseconds + passed,
                    monotonicNanoseconds: (start.monotonic + .milliseconds(passed)).nanoseconds)
                if let command = told.command { source.shard.apply(command, at: source.moment) }
                pool.workAvailable()
            }
        }
        loop.run()
        loop.onTurn = before
        deadline.close()
        simulator.close()
        #expect(reports.isEmpty)
        return frames
    }

    private var isGathering: Bool { source.shard.membership.audiences.rows.contains { $0.lane.parked != nil } }

    /// Returns the next decision, or an earlier moment at which the shard has work of its own.
    private func next(of steps: inout ArraySlice<Step>, since first: FeedTime, _ start: Moment) -> Step? {
        guard let step = steps.first else { return nil }
        if let due = source.shard.nextDue {
            let passed = max(due, source.moment.monotonic).nanoseconds(since: start.monotonic)
            let at = first + .milliseconds((passed + 999_999) / 1_000_000)
            if at < step.now { return Step(now: at, command: nil) }
        }
        return steps.popFirst()
    }

    /// Returns the pushes to the one token that the simulator has accepted beyond `count`.
    private func accepted(after count: Int, _ step: Step) -> [Frame] {
        let accepted = simulator.service.accepted
        guard let token = accepted.tokens.first else { return [] }
        var publication: Publication?
        if case .publish(let new) = step.command { publication = new }
        var entries: [AcceptedPushes.Entry] = []
        accepted.entries(of: token, into: &entries)
        return entries.dropFirst(count).map { entry in
            Frame(
                now: step.now,
                state: entry.stateIndex.flatMap { JSONObject(parsing: accepted.states[Int($0.rawValue)]) } ?? [:],
                short: publication.flatMap { JSONObject(parsing: LineupTopic($0).row.bytes) } ?? [:],
                alert: entry.alert.flatMap { JSONObject(parsing: accepted.alerts[Int($0.rawValue)]) },
                dismissAfter: entry.event == .end ? publication?.dismissal?.duration(from: step.now) : nil)
        }
    }
}
