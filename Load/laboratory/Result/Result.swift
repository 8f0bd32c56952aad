/// Result of one or several runs of a scenario, as `fanfare-load run --json` writes it. All times are seconds unless a name says otherwise.
///
/// Members are added without a new number; a change of the meaning of one gets a new `schema`.
package struct LoadResult: Codable, Sendable {
    package static let schemaNow = 2

    package var schema = LoadResult.schemaNow
    package var scenario: ScenarioSummary
    package var machine: Machine
    /// Runs in their order; `compare` needs several.
    package var runs: [LoadRun]

    package init(scenario: ScenarioSummary, machine: Machine, runs: [LoadRun] = []) {
        self.scenario = scenario
        self.machine = machine
        self.runs = runs
    }
}

/// The scenario of a result, for people.
package struct ScenarioSummary: Codable, Sendable, Equatable {
    package var name: String
    /// Question that the scenario answers, and the description of a good result.
    package var question: String
    package var good: String
    package var subscribers: Int
    package var topics: Int
    package var shards: Int
    package var transport: String
    package var seed: UInt64
    /// Factor by which the scenario's sizes and rates were multiplied.
    package var scale: Double
    /// Factor by which the scenario's rates were multiplied on top of `scale` (`fanfare-load saturate`).
    package var rate: Double
    /// Measured time as it was asked for, in seconds.
    package var duration: Double?
    /// Programs that share the subscribers.
    package var engines: Int?
    /// Number of the program whose part this is, from 1; `nil` for the whole.
    package var engine: Int?
    package var hasLineups: Bool?
    /// Seconds of a round trip to the transport's server, and of its answers' delay in the median.
    package var roundTrip: Double?
    package var answerDelay: Double?
    /// Mean seconds of a stall of one connection, and seconds from one stall to the next.
    package var stall: Double?
    package var stallEvery: Double?
    /// Fingerprint of everything that makes the load but the seed: of two results with one value only seeds differ.
    package var definition: String?

    package init(
        name: String, question: String, good: String, subscribers: Int, topics: Int, shards: Int, transport: String,
        seed: UInt64, scale: Double, rate: Double
    ) {
        self.name = name
        self.question = question
        self.good = good
        self.subscribers = subscribers
        self.topics = topics
        self.shards = shards
        self.transport = transport
        self.seed = seed
        self.scale = scale
        self.rate = rate
    }
}

/// Machine and build of a result. Figures of two machines do not compare.
package struct Machine: Codable, Sendable, Equatable {
    package var processor = ""
    package var processors = 0
    package var memoryBytes: Int64 = 0
    package var kernel = ""
    /// Commit of the folder in which the program lies; ends in `+` if files differ from it, and is empty outside a repository.
    package var commit = ""
    /// Fingerprint of the program's file, which tells builds of one commit apart.
    package var program: String?
    /// Is `true` for a debug build, whose figures are not worth comparing.
    package var isDebugBuild = false
    /// Start of the first run, RFC 3339.
    package var startedAt = ""

    package init() {}
}

/// One run of a scenario. Warm-up is counted nowhere except in `funnel.warmUp`.
package struct LoadRun: Codable, Sendable {
    package var verdict: Verdict
    /// Measured time, without warm-up.
    package var seconds: Double
    /// Start of the measurement by the wall clock, RFC 3339; `nil` in results of earlier versions.
    package var startedAt: String?
    /// Factor of the scenario's rates, of the runs in which `saturate` looks for the limit.
    package var rate: Double?
    /// Figures by name, as thresholds name them: `goal.last.p99`, `cpu.per.push`. Seconds, bytes, counts, and shares of one.
    package var figures: [String: Double] = [:]
    package var latencies: [Latency] = []
    /// One for each second of the measurement, the wait for the last push included.
    package var intervals: [Interval] = []
    /// Goals in the order of their planned moments; at most `Goal.goalsMax`.
    package var goals: [Goal] = []
    /// From raw events to accepted pushes, each step with its count.
    package var funnel: [Count] = []
    /// Answers to pushes by class: `accepted`, `dead`, `throttled`, …, or by status and reason where the transport knows them.
    package var answers: [Count] = []
    /// Updates and alerts that were not sent, by reason.
    package var suppressed: [Count] = []
    package var threads: [ThreadCost] = []
    /// Figures of the scenario that this engine or transport does not have, each with the reason.
    package var notes: [String] = []

    package init(verdict: Verdict, seconds: Double) {
        self.verdict = verdict
        self.seconds = seconds
    }
}

/// Judgement of a run.
package struct Verdict: Codable, Sendable, Equatable {
    package struct Outcome: Codable, Sendable, Equatable {
        /// Threshold as it was written: `goal.last.p99 < 2.5 s`.
        package var expression: String
        package var figure: String
        /// Measured value; `nil` if the run has no such figure, which breaks the threshold.
        package var value: Double?
        package var limit: Double
        package var holds: Bool
        /// The outcome in one sentence.
        package var sentence: String

        package init(
            expression: String, figure: String, value: Double?, limit: Double, holds: Bool, sentence: String
        ) {
            self.expression = expression
            self.figure = figure
            self.value = value
            self.limit = limit
            self.holds = holds
            self.sentence = sentence
        }
    }

    /// First words of a fault that is the generator's.
    static let generatorLate = "generator late"
    /// First words of a fault that is the engine's: the load was more than it takes.
    static let engineFull = "engine full"

    package var passes: Bool
    /// Faults that make the figures worthless whatever the thresholds say, in one sentence each: `generator late: …`.
    package var faults: [String]
    package var thresholds: [Outcome]

    package init(faults: [String], thresholds: [Outcome]) {
        self.faults = faults
        self.thresholds = thresholds
        passes = faults.isEmpty && thresholds.allSatisfy(\.holds)
    }

    /// Fault of a run that was ended before its time.
    package static let interrupted = "the run was interrupted"
    package var isInterrupted: Bool { faults.contains { $0.contains(Verdict.interrupted) } }

    /// Is `true` if the generator was late, so that the load was not the planned one.
    package var isGeneratorLate: Bool { faults.contains { $0.contains(Verdict.generatorLate) } }

    /// First fault that is not the load's size, which the generator or the engine could not bring about; `nil` if there is none.
    package var faultBesideLoad: String? {
        faults.first { !$0.contains(Verdict.generatorLate) && !$0.contains(Verdict.engineFull) }
    }
}

/// Distribution of one stage's times over one series of publications.
package struct Latency: Codable, Sendable {
    /// Publications by what they bring: `goal` (an essential alert), `alert` (another alert), `immediate` and `conserving` (silent, by
    /// priority), `follow` (the first state of a new activity), `all`; or a topic kind: `kind/football`.
    package var series: String
    /// Stage that ends the time, which begins at the planned moment of the event: `decided`, `first` (push of the audience handed to the
    /// transport), `left` (each push handed to the transport), `accepted` (each push), `reached` (each activity
    /// has accepted it, or a newer publication of its topic), `last` (activity of the audience accepted).
    /// Two stages begin elsewhere: `age` (from the version's arrival at the shard to each push) and `lateness` (of the generator).
    package var stage: String
    package var histogram: LatencyHistogram {
        get { atRest.histogram }
        set { atRest = SparseHistogram(newValue) }
    }
    private var atRest: SparseHistogram
    /// Values that the distribution would have if every activity had every publication: of the stages `accepted` and `reached` in a whole run.
    package var owed: Int?

    package init(series: String, stage: String, histogram: LatencyHistogram) {
        self.series = series
        self.stage = stage
        atRest = SparseHistogram(histogram)
    }

    private enum CodingKeys: String, CodingKey { case series, stage, owed, atRest = "histogram" }
}

/// Figures of one second.
package struct Interval: Codable, Sendable {
    /// End of the interval, in seconds from the start of the measurement.
    package var second: Double
    package var events = 0
    package var sent = 0
    package var accepted = 0
    /// From the planned moment until activities had what was published, of those that got it in this second: all of it, and goals.
    package var latency: LatencyHistogram {
        get { latencyAtRest.histogram }
        set { latencyAtRest = SparseHistogram(newValue) }
    }
    package var goalLatency: LatencyHistogram {
        get { goalLatencyAtRest.histogram }
        set { goalLatencyAtRest = SparseHistogram(newValue) }
    }
    private var latencyAtRest = SparseHistogram()
    private var goalLatencyAtRest = SparseHistogram()
    /// Times of all stages that ended in this second, by series and topic kind; `nil` in results of earlier versions.
    package var latencies: [Latency]?
    /// Age of the oldest publication that an activity lacks.
    package var oldestUndelivered = 0.0
    /// Activities that lack something.
    package var owed = 0
    /// Longest turn of the core's loop and of the shards' loops.
    package var longestTurnCore = 0.0
    package var longestTurnShard = 0.0
    package var residentBytes: Int64 = 0
    package var cpuSeconds = 0.0
    /// Commands that wait in the rings from the core to its shards, and arrivals that wait for the core.
    package var commandsWaiting = 0
    package var arrivalsWaiting = 0
    package var connections = 0
    package var threads = 0
    package var descriptors = 0
    /// Bytes of bodies, or of content states into a sink; answers by class; updates and alerts that were not sent, by reason; and processor
    /// time by thread. `nil` in results of earlier versions.
    package var bytes: Int?
    package var answers: [Count]?
    package var suppressed: [Count]?
    package var threadCosts: [ThreadCost]?

    /// Leaves out what was counted: it belongs to another second.
    mutating func omitCounts() {
        (events, cpuSeconds, bytes) = (0, 0, 0)
        (answers, suppressed, threadCosts) = ([], [], [])
    }

    package init(second: Double) { self.second = second }

    private enum CodingKeys: String, CodingKey {
        case second, events, sent, accepted, latencyAtRest = "latency", goalLatencyAtRest = "goalLatency"
        case latencies
        case oldestUndelivered, owed, longestTurnCore, longestTurnShard, residentBytes, cpuSeconds
        case commandsWaiting, arrivalsWaiting, connections, threads, descriptors
        case bytes, answers, suppressed, threadCosts
    }
}

/// The spread of a goal through its audience.
package struct Goal: Codable, Sendable {
    package static let goalsMax = 256

    package var topic: String
    /// Planned moment, in seconds from the start of the measurement.
    package var planned: Double
    /// Activities that have it, or a newer publication of its topic.
    package var audience: Int
    /// Activities that follow the topic, or have it in their lineup, if nobody came or went.
    package var followers: Int?
    /// Activities that followed, or had it in their lineup, at its planned moment, without those whose tokens had died; `nil` in results of
    /// earlier versions.
    package var owed: Int?
    /// Seconds from the planned moment to the first push and to the last accepted push; `nil` if the goal was not measured to its end.
    package var first: Double?
    package var last: Double?
    /// Activities by the time from the planned moment until they had it.
    package var spread: LatencyHistogram

    package init(topic: String, planned: Double, audience: Int, first: Double?, last: Double?, spread: LatencyHistogram)
    {
        self.topic = topic
        self.planned = planned
        self.audience = audience
        self.first = first
        self.last = last
        self.spread = spread
    }
}

package struct Count: Codable, Sendable, Equatable {
    package var name: String
    package var count: Int

    package init(_ name: String, _ count: Int) {
        self.name = name
        self.count = count
    }
}

/// Processor time of a thread of the process, or of a program beside it.
package struct ThreadCost: Codable, Sendable, Equatable {
    static let coreName = "core"
    /// Beginning of the names of the shards' threads.
    static let shardName = "fanfare shard"

    package var name: String
    package var cpuSeconds: Double

    package init(name: String, cpuSeconds: Double) {
        self.name = name
        self.cpuSeconds = cpuSeconds
    }
}

extension [Count] {
    /// Returns what has been counted since the earlier counts.
    func since(_ earlier: [Count]) -> [Count] {
        let before = Dictionary(earlier.map { ($0.name, $0.count) }, uniquingKeysWith: +)
        return map { Count($0.name, $0.count - before[$0.name, default: 0]) }.filter { $0.count > 0 }
    }
}
