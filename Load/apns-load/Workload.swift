import FanfareAPNs
import FanfareFanOut
import FanfareModel

/// The pushes that every client of `make bench-apns` sends: 80-byte tokens, and updates of one topic with a body of
/// 317 bytes, including the alert if there is one.
struct Workload {
    static let bundleID = "com.example.scores"
    static let keyID = "BENCHKEY12"
    static let teamID = "BENCHTEAM1"
    static let bodyBytes = 317
    /// Topics of the lineups; the first one is in all of them and has the news.
    private static let topics = (1...100).map { TopicID("match/\($0)") }
    private static var topicID: TopicID { topics[0] }
    static let lineupsMax = 8
    /// First version, large enough that all versions have the same number of digits.
    private static let firstVersion: UInt32 = 1_000_000

    let activities: Int
    /// Topics in each activity's own lineup; with 0, all activities follow one topic.
    let lineups: Int
    /// Makes the news a goal, which alerts all activities.
    let isGoal: Bool
    /// Number of activities that follow a topic of their own beside the others.
    let beside: Int
    /// Text that fills the body up to its size.
    private let filler: String

    init(activities: Int, lineups: Int = 0, isGoal: Bool = false, beside: Int = 0) throws {
        self.activities = activities
        self.beside = beside
        self.lineups = lineups
        self.isGoal = isGoal
        // Lineups send the states of several topics, and their alerts in addition.
        let alert = isGoal && lineups == 0 ? Workload.goal(1) : nil
        let empty = try Workload.body(of: Workload.publication(1, alert: alert, filler: ""))
        filler = String(repeating: "x", count: Workload.bodyBytes - empty.count)
    }

    /// Returns the body as it is sent.
    func body() throws -> [UInt8] { try Workload.body(of: publication(1)) }
    var expiration: Int64 { get throws { PayloadEncoder.expiration(of: try Workload.payload(of: publication(1))) } }

    func publication(_ round: Int) -> Publication {
        Workload.publication(round, alert: isGoal ? Workload.goal(round) : nil, filler: filler)
    }

    /// Returns a goal of the small topic, with a serial that the main topic never uses.
    func publicationBeside(_ round: Int) -> Publication {
        Workload.publication(
            round + Workload.besideFirst, of: Workload.topics[1], alert: Workload.goal(round), filler: filler)
    }

    /// First serial of the small topic's publications.
    static let besideFirst = 1_000_000

    func token(_ number: Int) -> [UInt8] {
        var random = SplitMix64(seed: UInt64(number))
        var bytes: [UInt8] = []
        bytes.reserveCapacity(80)
        while bytes.count < 80 { withUnsafeBytes(of: random.next()) { bytes.append(contentsOf: $0) } }
        return bytes
    }

    /// Makes a shard whose activities all show the topic, alone or in lineups of which no two are equal. Lineups also show the other
    /// topics' states and begin with `firstPushes` pushes for them.
    func shard(at moment: Moment) -> Shard {
        // Limits of a day must not apply: a run publishes a season's goals in seconds.
        var limits = ActivityLimits()
        if isGoal || beside > 0 { limits.immediate = TokenBucket.Size(burst: 1000, refill: .seconds(1)) }
        let shard = Shard(limits: limits)
        shard.reserve(activities: activities)
        if firstPushes > 0 {
            for (index, topic) in Workload.topics.enumerated().dropFirst() {
                shard.apply(.publish(Workload.publication(index << 32, of: topic, filler: filler)), at: moment)
            }
        }
        for number in 0..<activities {
            let id = ActivityID(UInt64(number).mixed)
            shard.apply(.follow(id, audience(of: number), token: token(number)), at: moment)
        }
        for number in activities..<activities + beside {
            let id = ActivityID(UInt64(number).mixed)
            shard.apply(.follow(id, .topic(Workload.topics[1]), token: token(number)), at: moment)
        }
        return shard
    }

    /// Number of pushes before the first publication.
    var firstPushes: Int { lineups > 1 ? activities : 0 }

    private func audience(of number: Int) -> AudienceKey {
        guard lineups > 0 else { return .topic(Workload.topicID) }
        var others = Array(Workload.topics.dropFirst())
        var topics = [Workload.topicID]
        var rest = number
        while topics.count < lineups {
            let next = rest % others.count
            rest /= others.count
            topics.append(others.remove(at: next))
        }
        return .lineup(topics)
    }

    private static func goal(_ round: Int) -> Alert {
        Alert(
            cause: "goal/\(round)", class: .essential,
            text: AlertText(
                title: "Goal! Reds 2–1 Blues", body: .text("H. Corvand (Reds), \(round)"), sound: "default"),
            freshFor: .seconds(300), highlight: nil)
    }

    private static func publication(
        _ round: Int, of topic: TopicID = topicID, alert: Alert? = nil, filler: String
    ) -> Publication {
        let version = firstVersion &+ UInt32(truncatingIfNeeded: round)
        let state = EncodedState([
            "home": .string("Reds"), "away": .string("Blues"), "change": .int(Int64(version)), "text": .string(filler),
        ])
        return Publication(
            serial: UInt64(round), topicID: topic, topicKind: .football, version: version,
            event: .update, state: state, priority: .immediate, alert: alert,
            prominence: Prominence(importance: 50, occasionWeight: topic == topicID ? 100 : nil),
            short: ShortForms(compactLeading: "RED 2", compactTrailing: "1 BLU", minimal: "2–1"),
            staleAfter: .seconds(900), dismissal: nil)
    }

    /// Returns the payload that a shard makes of a publication.
    private static func payload(of publication: Publication) throws -> Payload {
        let shard = Shard()
        let moment = Moment.now()
        shard.apply(.follow(ActivityID(1), .topic(topicID), token: [1]), at: moment)
        shard.apply(.publish(publication), at: moment)
        var batch = DeliveryBatch()
        shard.pull(limit: 1, at: moment, into: &batch)
        guard let delivery = batch.deliveries.first else { throw LoadError("a shard delivers nothing") }
        return batch.payload(of: delivery)
    }

    private static func body(of publication: Publication) throws -> [UInt8] {
        try PayloadEncoder.body(of: payload(of: publication))
    }
}

/// Reason why there is no result, for people.
struct LoadError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
