import CFanfareBench
import FanfareFanOut
import FanfareModel
import FanfareQueues
import FanfareTestSupport
import Glibc

/// Different lineups of five topics with one activity each, so that lineups share only the encoded topics.
enum Lineups {
    private static let topics = LineupSelection.topics
    private static let size = LineupSelection.size
    private static let batchMax = 1024
    private static let rounds = 5

    /// Prints one JSON object: payloads composed, pushes of a goal and of the end of its dwell time per second of processor time, the pushes'
    /// answers included, and bytes per lineup beside its token's, after loading and while each lineup has a pending wake-up.
    static func report(lineups: Int) {
        let before = bench_resident_bytes()
        var fleet = LineupFleet(lineups: lineups, topics: topics, size: size)
        let bytes = (bench_resident_bytes() - before) / Int64(lineups) - Int64(LineupFleet.tokenBytes)
        var pushes = 0
        var seconds = 0.0
        for _ in 0..<rounds {
            let publication = fleet.nextGoal()
            let started = processorSeconds()
            pushes += fleet.publishAndSweep(publication, batchMax: batchMax)
            seconds += processorSeconds() - started
        }
        precondition(pushes == lineups * rounds, "\(pushes) pushes to \(lineups) lineups in \(rounds) rounds")
        var bytesWaiting = bytes
        var wakingSeconds = 0.0
        for _ in 0..<rounds {
            // The spotlight rests elsewhere, so the end of the goal's dwell time wakes every lineup at the same moment.
            pushes = fleet.publishAndSweep(fleet.nextGoal(importance: 10), batchMax: batchMax)
            precondition(pushes == lineups, "a goal made \(pushes) pushes to \(lineups) lineups")
            bytesWaiting = max(
                bytesWaiting, (bench_resident_bytes() - before) / Int64(lineups) - Int64(LineupFleet.tokenBytes))
            fleet.passDwell()
            let started = processorSeconds()
            fleet.wake()
            pushes = fleet.sweep(batchMax: batchMax)
            wakingSeconds += processorSeconds() - started
            precondition(pushes == lineups, "the end of a dwell time made \(pushes) pushes to \(lineups) lineups")
        }
        print(
            """
            {"lineups": \(lineups), "composed": \(composed(count: lineups)), \
            "pushed": \(Int(Double(lineups * rounds) / seconds)), \
            "woken": \(Int(Double(lineups * rounds) / wakingSeconds)), \
            "bytes": \(bytes), "bytes_waiting": \(bytesWaiting), \
            "publish_us": \(fleet.longestPublish * 1e6), "publish_median_us": \(fleet.medianPublish * 1e6), \
            "pull_ms": \(fleet.longestPull * 1e3), \
            "alerted": \(alerted(lineups: lineups, claims: false)), "claimed": \(alerted(lineups: lineups, claims: true)), \
            "topic_pushed": \(topicPushed(activities: lineups))}
            """)
    }

    /// Pushes per second of goals with an alert, which wait for others.
    ///
    /// - Parameter claims: whether they wait for claims as well, which are confirmed at once.
    private static func alerted(lineups: Int, claims: Bool) -> Int {
        var fleet = LineupFleet(lineups: lineups, topics: topics, size: size, claims: claims)
        var pushes = 0
        var seconds = 0.0
        for _ in 0..<rounds {
            let publication = fleet.nextGoal(hasAlert: true)
            let started = processorSeconds()
            pushes += fleet.publishAndSweep(publication, batchMax: batchMax)
            fleet.passGathering()
            fleet.wake()
            pushes += fleet.sweep(batchMax: batchMax)
            seconds += processorSeconds() - started
            fleet.rest()
        }
        precondition(pushes == lineups * rounds, "\(pushes) pushes of \(rounds) alerts to \(lineups) lineups")
        return Int(Double(pushes) / seconds)
    }

    /// Pushes per second of the same goals to as many activities that follow the match alone.
    private static func topicPushed(activities: Int) -> Int {
        var fleet = LineupFleet(followers: activities)
        var pushes = 0
        var seconds = 0.0
        for _ in 0..<rounds {
            let publication = fleet.nextGoal()
            let started = processorSeconds()
            pushes += fleet.publishAndSweep(publication, batchMax: batchMax)
            seconds += processorSeconds() - started
        }
        precondition(pushes == activities * rounds, "\(pushes) pushes to \(activities) followers in \(rounds) rounds")
        return Int(Double(pushes) / seconds)
    }

    /// Composes the content states of the lineups one after the other, and nothing else.
    private static func composed(count: Int) -> Int {
        let publications = (0..<topics).map {
            LineupTopic(LineupFleet.publication(topic: $0, score: 1, serial: UInt64($0) + 1))
        }
        var random = SplitMix64(seed: 1)
        let displays = (0..<1000).map { _ in
            LineupJSON.Display(
                topics: (0..<size).map { _ in publications[Int.random(in: 0..<topics, using: &random)] },
                spotlight: Int.random(in: 0..<size, using: &random))
        }
        var bytes = 0
        var state: [UInt8] = []
        let started = processorSeconds()
        for number in 0..<count {
            LineupJSON.compose(displays[number % displays.count], into: &state)
            bytes += state.count
        }
        let seconds = processorSeconds() - started
        precondition(bytes > 500 * count, "content states of five topics have more than \(bytes / count) bytes")
        return Int(Double(count) / seconds)
    }

    private static func processorSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// One shard; every lineup has the first topic, in which goals happen, and others drawn at random.
private struct LineupFleet: ~Copyable {
    static let tokenBytes = 80
    private let shard: Shard
    private var moment = Moment(wallMilliseconds: 1_800_000_000_000, monotonicNanoseconds: 1_000_000_000)
    private var serial: UInt64 = 0
    private var score: Int64 = 0
    private var batch = DeliveryBatch()
    private var completions: [DeliveryCompletion] = []
    /// Seconds.
    private(set) var longestPull = 0.0
    /// Seconds of each publication, in their order.
    private var publishSeconds: [Double] = []
    var longestPublish: Double { publishSeconds.max() ?? 0 }
    var medianPublish: Double { publishSeconds.isEmpty ? 0 : publishSeconds.sorted()[publishSeconds.count / 2] }

    /// - Parameter claims: whether alerts wait for claims.
    init(lineups: Int, topics: Int, size: Int, claims: Bool = false) {
        // Every alert leaves: none is to be held back.
        var limits = ActivityLimits()
        limits.immediate = TokenBucket.Size(burst: 240, refill: .seconds(1))
        shard = Shard(limits: limits)
        if claims { shard.keepClaims() }
        shard.reserve(activities: lineups)
        for topic in 0..<topics {
            serial += 1
            shard.apply(.publish(LineupFleet.publication(topic: topic, score: 0, serial: serial)), at: moment)
        }
        precondition(
            topics == LineupSelection.topics && size == LineupSelection.size && lineups <= LineupSelection.count)
        for number in 0..<lineups {
            let key = AudienceKey.lineup(LineupSelection.chosen(by: number).map { TopicID("match/\($0)") })
            shard.apply(
                .follow(
                    ActivityID(UInt64(number + 1).mixed), key,
                    token: Array(repeating: 7, count: LineupFleet.tokenBytes)), at: moment)
            // A turn takes so many commands, and then people are served.
            if number % 1024 == 0 { _ = sweep(batchMax: 1024) }
        }
        longestPull = 0
        _ = sweep(batchMax: 1024)
    }

    init(followers: Int) {
        shard = Shard()
        shard.reserve(activities: followers)
        serial = 1
        shard.apply(.publish(LineupFleet.publication(topic: 0, score: 0, serial: serial)), at: moment)
        for follower in 1...followers {
            let token = Array(repeating: UInt8(7), count: 80)
            shard.apply(
                .follow(ActivityID(UInt64(follower).mixed), .topic(TopicID("match/0")), token: token), at: moment)
        }
        _ = sweep(batchMax: 1024)
    }

    static func publication(
        topic: Int, score: Int64, serial: UInt64, importance: Int = 50, alert: Alert? = nil
    ) -> Publication {
        let state = EncodedState([
            "home": .string("Home United \(topic)"), "away": .string("Away City \(topic)"), "homeScore": .int(score),
            "awayScore": 0, "homeYellow": 1, "awayYellow": 2, "homeRed": 0, "awayRed": 0, "period": "2H",
            "clockRunning": true, "periodStartedAt": .double(802_000_000), "highlight": "homeScore",
            "lastEvent": .string("Goal: P. Layer (Home United \(topic))"),
        ])
        return Publication.test(
            serial, of: TopicID("match/\(topic)"), version: UInt32(score) + 1, encoded: state, alert: alert,
            prominence: Prominence(importance: importance, occasionWeight: 100),
            short: ShortForms(compactLeading: "HOM \(score)", compactTrailing: "0 AWA", minimal: "\(score)–0"),
            staleAfter: .seconds(3600))
    }

    /// - Parameter importance: importance of this topic; the others have 50. With 50 the spotlight rests on
    ///   this one, because it is first in the lineup.
    mutating func nextGoal(importance: Int = 50, hasAlert: Bool = false) -> Publication {
        score += 1
        serial += 1
        let alert = Alert(
            cause: "goal \(score)", class: .essential, text: AlertText(title: "Goal", body: "\(score)–0"),
            freshFor: .seconds(300), highlight: nil)
        return LineupFleet.publication(
            topic: 0, score: score, serial: serial, importance: importance, alert: hasAlert ? alert : nil)
    }

    /// - Returns: number of pushes, all of them answered.
    mutating func publishAndSweep(_ publication: Publication, batchMax: Int) -> Int {
        pass(seconds: 3)
        let started = LineupFleet.now()
        shard.apply(.publish(publication), at: moment)
        publishSeconds.append(LineupFleet.now() - started)
        return sweep(batchMax: batchMax)
    }

    private static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    mutating func passGathering() { pass(seconds: 2) }

    /// Lets everything that a goal has moved come to rest.
    mutating func rest() {
        pass(seconds: 120)
        wake()
        _ = sweep(batchMax: 1024)
    }

    mutating func passDwell() { pass(seconds: LineupRules().dwell.milliseconds / 1000) }

    private mutating func pass(seconds: Int64) {
        moment.wallMilliseconds += seconds * 1000
        moment.monotonic += .seconds(seconds)
    }

    /// Runs all due timers without a push.
    mutating func wake() {
        while let due = shard.nextDue, due <= moment.monotonic {
            shard.pull(limit: 0, at: moment, into: &batch)
        }
    }

    /// - Returns: number of pushes, all of them answered.
    mutating func sweep(batchMax: Int) -> Int {
        var pushes = 0
        while true {
            let started = LineupFleet.now()
            shard.pull(limit: batchMax, at: moment, into: &batch)
            longestPull = max(longestPull, LineupFleet.now() - started)
            if batch.deliveries.isEmpty {
                // A pull may end with visits left to be made, or with claims.
                if confirm() { continue }
                guard let due = shard.nextDue, due <= moment.monotonic else { return pushes }
                continue
            }
            pushes += batch.deliveries.count
            for delivery in batch.deliveries {
                completions.append(
                    DeliveryCompletion(slot: delivery.slot, generation: delivery.generation, outcome: .accepted))
            }
            batch.removeAll()
            shard.complete(completions, at: moment)
            completions.removeAll(keepingCapacity: true)
            _ = confirm()
        }
    }

    /// Takes the shard's feedback, and confirms its claims.
    ///
    /// - Returns: whether there were any.
    private func confirm() -> Bool {
        var ticket: UInt64?
        shard.drainFeedback { if let claimed = $0.ticket { ticket = claimed } }
        guard let ticket else { return false }
        shard.apply(.claimed(ticket), at: moment)
        return true
    }
}
