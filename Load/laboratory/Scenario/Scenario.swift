package import FanfareFeeds
import FanfareModel

/// A load scenario: who follows what, what happens when, and how a run is judged. `Scenario+Reading.swift` reads it from TOML.
package struct Scenario: Sendable, Equatable {
    package var name: String
    package var purpose = Purpose()
    package var seed: UInt64 = 1
    package var shards = 1
    package var warmUp = Duration.seconds(5)
    /// Measured part of the schedule, after the warm-up.
    package var duration = Duration.seconds(20)
    /// Longest wait for the last pushes after the schedule's end.
    package var drain = Duration.seconds(30)
    /// Longest lateness of the generator at its 99th percentile; a later generator fails the run.
    package var lateness = Duration.milliseconds(50)
    package var subscribers = Subscribers()
    package var feed = LoadFeed()
    package var churn = Churn()
    package var transport = LoadTransport.discard(Sink())
    package var clockStep: ClockStep?
    /// Moment, from the measurement's start, at which the engine ends without notice and another one goes on from its log.
    package var restartAt: Duration?
    /// Programs that share the subscribers and get the same feed.
    package var engines = 1
    /// Number of the program that runs this part, from 0; `nil` for the whole.
    package private(set) var part: Int?
    /// Processor time wasted with every push (`fanfare-load run --waste`); no key of a file.
    package var waste = Duration.zero
    package var thresholds: [Threshold] = []
    /// Factors by which sizes and rates have been multiplied.
    package private(set) var factors = Factors()

    package init(name: String) { self.name = name }

    package struct Purpose: Sendable, Equatable {
        package var question = ""
        /// Description of a good result.
        package var good = ""
        /// Time that a run takes on two processors, for people.
        package var time = ""
    }

    package struct Factors: Sendable, Equatable {
        package var scale = 1.0
        package var rate = 1.0
    }

    /// Activities that come and go while the scenario runs.
    package struct Churn: Sendable, Equatable {
        package var follows = Arrivals()
        package var unfollows = Arrivals()
        /// New tokens of those who follow.
        package var rotations = Arrivals()
    }

    package struct Subscribers: Sendable, Equatable {
        package var count = 100_000
        package var tokenBytes = 80
        /// Exponent of Zipf's law for the topics' popularity; 0: all are equally popular.
        package var zipf = 0.0
        /// Topics of each subscriber's lineup; `nil`: each follows one topic.
        package var lineups: ClosedRange<Int>?
        package var hasFavourites = false
        /// Share of tokens that are dead.
        package var deadShare = 0.0
        /// Subscribers whose tokens begin with the bytes `ffff`; no others do.
        package var sick = 0
        /// Share of subscribers who want no alerts.
        package var silencedShare = 0.0
        /// Of the others, the share of those who want essential alerts alone.
        package var essentialShare = 0.0
        /// Share of subscribers who have eight quiet hours a day, in which only essential alerts sound. These begin at any minute of the day, so that
        /// a run meets as many of them whenever it is.
        package var quietShare = 0.0
        /// Share of subscribers whose phones allow frequent updates.
        package var frequentShare = 0.0
    }

    /// Arrivals at a rate, within a part of the schedule.
    package struct Arrivals: Sendable, Equatable {
        package var perSecond = 0.0
        package var from = Duration.zero
        /// `nil`: the schedule's end.
        package var until: Duration?
    }

    /// A transport inside the process that takes every push.
    package struct Sink: Sendable, Equatable {
        package var pushesPerSecond: Int?
        package var stalls: [Stall] = []
        package init() {}
    }

    /// Time during which a transport takes nothing and answers nothing, from the measurement's start.
    package struct Stall: Sendable, Equatable {
        package var at: Duration
        package var length: Duration
        package init(at: Duration, length: Duration) { (self.at, self.length) = (at, length) }
    }

    /// A step of the wall clock.
    package struct ClockStep: Sendable, Equatable {
        package var at: Duration
        /// Negative: the clock is put back.
        package var by: Duration
    }

    /// Fingerprint of the load: everything but names, thresholds, the seed and wasted time.
    ///
    /// Options at their defaults are not part of it, so that a build which knows further options gives the same load the same fingerprint;
    /// a build with other defaults, or with further options of a simulator or a burst, gives another one where they count.
    package var definition: String {
        var load = self
        (load.name, load.purpose, load.thresholds, load.seed, load.waste) = ("", Purpose(), [], 0, .zero)
        var usual = Scenario(name: "")
        usual.seed = 0
        return String(Scenario.differences(load, usual, of: "").joined(separator: "\n").utf8.fnv1a, radix: 16)
    }

    /// Properties that differ, each with its path and value.
    private static func differences(_ value: Any, _ usual: Any, of path: String) -> [String] {
        let (text, other) = ("\(value)", "\(usual)")
        guard text != other else { return [] }
        let (parts, others) = (Mirror(reflecting: value), Mirror(reflecting: usual))
        guard parts.displayStyle == .struct, others.displayStyle == .struct else { return ["\(path)=\(text)"] }
        return zip(parts.children, others.children).flatMap { part, other in
            differences(part.value, other.value, of: "\(path).\(part.label ?? "")")
        }
    }

    // MARK: Sizes

    /// Returns the part of one of the scenario's engines: its share of the subscribers, and the whole feed.
    package func part(_ number: Int) -> Scenario {
        func share(_ count: Int) -> Int { count / engines + (number < count % engines ? 1 : 0) }
        var scenario = self
        scenario.part = number
        scenario.subscribers.count = share(subscribers.count)
        scenario.subscribers.sick = share(subscribers.sick)
        for arrivals in [\Scenario.churn.follows, \.churn.unfollows, \.churn.rotations] {
            scenario[keyPath: arrivals].perSecond /= Double(engines)
        }
        return scenario
    }

    private func scaled(_ count: Int, _ factor: Double, least: Int = 1) -> Int {
        count == 0 ? 0 : max(least, Int((Double(count) * factor).rounded()))
    }

    /// Returns the scenario with its subscribers and rates multiplied; topics too if each has few subscribers of its own.
    package func scaled(by factor: Double) -> Scenario {
        var scenario = self
        scenario.factors.scale *= factor
        let followsOwnTopics = feed.topics * 4 > subscribers.count
        scenario.subscribers.count = scaled(subscribers.count, factor)
        scenario.subscribers.sick = scaled(subscribers.sick, factor)
        if followsOwnTopics { scenario.feed.topics = scaled(feed.topics, factor) }
        scenario.multiplyRates(by: factor, feed: followsOwnTopics)
        if case .discard(var sink) = transport {
            sink.pushesPerSecond = sink.pushesPerSecond.map { scaled($0, factor) }
            scenario.transport = .discard(sink)
        }
        return scenario
    }

    /// Returns the scenario with all rates of arrivals multiplied, and its bursts with them.
    package func rated(by factor: Double) -> Scenario {
        var scenario = self
        scenario.factors.rate *= factor
        scenario.multiplyRates(by: factor, feed: true)
        // A burst has whole arrivals; the part that one cannot have goes to the next one.
        var rest = 0.0
        for index in scenario.feed.bursts.indices {
            let wanted = Double(feed.bursts[index].count) * factor + rest
            // Beyond that the scenario is refused for its number of arrivals anyway.
            let count = min(1e9, (wanted + 1e-9).rounded(.down))
            rest = min(1, wanted - count)
            scenario.feed.bursts[index].count = Int(count)
        }
        return scenario
    }

    private mutating func multiplyRates(by factor: Double, feed isOfFeed: Bool) {
        churn.follows.perSecond *= factor
        churn.unfollows.perSecond *= factor
        churn.rotations.perSecond *= factor
        guard isOfFeed else { return }
        feed.eventsPerSecond *= factor
        feed.updatesPerSecond *= factor
        feed.goalsPerSecond *= factor
        feed.speed *= factor
    }

    private static let subscribersMax = 100_000_000
    private static let arrivalsMax = 200_000_000.0

    private static let loggedTopicsMax = 10_000

    /// Returns the reason why no machine could run the scenario; `nil` if there is none. Checked after all options, which multiply what a
    /// file says.
    package var excess: String? {
        let seconds = Double((warmUp + duration).wholeNanoseconds) / 1e9
        let follows = churn.follows.perSecond * seconds
        guard Double(subscribers.count) + follows <= Double(Scenario.subscribersMax) else {
            return
                "\(subscribers.count) subscribers and those that follow later are more than \(Scenario.subscribersMax)"
        }
        let rates =
            feed.eventsPerSecond + feed.updatesPerSecond + feed.goalsPerSecond + churn.unfollows.perSecond
            + churn.rotations.perSecond
        let bursts = feed.bursts.reduce(0.0) { $0 + Double($1.count) }
        guard rates * seconds + follows + bursts <= Scenario.arrivalsMax else {
            return "its rates and bursts make more than \(Int(Scenario.arrivalsMax)) arrivals"
        }
        if restartAt != nil {
            // A probe knows an activity by its slot, which it has again in a shard that loads the same ones in the same order.
            if shards > 1 { return "a restart is of an engine with one shard" }
            // Each topic's beginning has a sync of its own.
            if feed.topics > Scenario.loggedTopicsMax {
                return "a restart is of \(Scenario.loggedTopicsMax) topics at most"
            }
        }
        return nil
    }

    /// Returns the scenario with this measured time, which is longer; `nil` if it has moments, such as bursts, that a longer time leaves where
    /// they are. One of rates alone, as a soak, goes on with them.
    package func lengthened(to length: Duration) -> Scenario? {
        let arrivals = [churn.follows, churn.unfollows, churn.rotations]
        guard feed.source == .rates, feed.bursts.isEmpty, clockStep == nil, restartAt == nil,
            arrivals.allSatisfy({ $0.until == nil })
        else { return nil }
        if case .discard(let sink) = transport, !sink.stalls.isEmpty { return nil }
        var scenario = self
        scenario.duration = length
        return scenario
    }

    /// Returns the scenario shortened to about this measured time: all its moments move in proportion.
    package func shortened(to length: Duration) -> Scenario {
        guard duration > length else { return self }
        var scenario = self
        let factor = length / duration
        func less(_ duration: Duration) -> Duration {
            .milliseconds(Int64((duration / .milliseconds(1) * factor).rounded()))
        }
        scenario.duration = less(duration)
        scenario.warmUp = less(warmUp)
        for arrivals in [\Scenario.churn.follows, \.churn.unfollows, \.churn.rotations] {
            scenario[keyPath: arrivals].from = less(self[keyPath: arrivals].from)
            scenario[keyPath: arrivals].until = self[keyPath: arrivals].until.map(less)
        }
        for index in scenario.feed.bursts.indices {
            scenario.feed.bursts[index].at = less(feed.bursts[index].at)
            scenario.feed.bursts[index].within = less(feed.bursts[index].within)
        }
        if case .discard(var sink) = transport {
            sink.stalls = sink.stalls.map { Stall(at: less($0.at), length: less($0.length)) }
            scenario.transport = .discard(sink)
        }
        scenario.clockStep?.at = clockStep.map { less($0.at) } ?? .zero
        scenario.restartAt = restartAt.map(less)
        return scenario
    }
}

/// The events of a scenario.
package struct LoadFeed: Sendable, Equatable {
    /// Kind of the topics, which decides what an update and a goal are.
    package enum Kind: String, Sendable, CaseIterable { case football, delivery, generic }

    package enum Source: Sendable, Equatable {
        /// Arrivals at the given rates, and bursts.
        case rates
        /// Files of a recorded feed.
        case recording([String])
        /// A feed of `fanfare generate`.
        case generator(GeneratedFeed)
    }

    package var source = Source.rates
    /// Seconds of a recording that are played in one second.
    package var speed = 60.0
    package var kind = Kind.football
    package var topics = 10
    /// Events that change nothing visible, over all topics.
    package var eventsPerSecond = 0.0
    /// Visible changes without an alert.
    package var updatesPerSecond = 0.0
    /// Changes with an essential alert: goals, arrivals.
    package var goalsPerSecond = 0.0
    package var bursts: [Burst] = []

    package struct Burst: Sendable, Equatable {
        package var at: Duration
        package var within = Duration.zero
        package var occasion = Occasion.goal
        package var count = 1
        /// First topic of the burst, and number of topics that take turns from there.
        package var firstTopic = 0
        package var topics = 1
    }

    package init() {}
}

/// The way in which a scenario's pushes leave the engine.
package enum LoadTransport: Sendable, Equatable {
    case discard(Scenario.Sink)
    /// The APNs simulator as a program of its own, and a relay before it if `distance` has options.
    case simulator(options: [String], distance: [String]?, connections: Int?)
    /// Another server on this machine, with its authority's certificate and the provider key.
    case host(String, port: Int, caFile: String, keyFile: String)

    /// Value in seconds of an option of the relay before the server, which is in milliseconds, and of a range its middle; `nil` without one.
    package func distance(_ option: String) -> Double? {
        guard case .simulator(_, let distance?, _) = self else { return nil }
        return LoadTransport.milliseconds(option, distance)
    }

    /// Value in seconds of an option of the simulator, which is in milliseconds: of `30~400` the first number, which is the median.
    package func option(_ option: String) -> Double? {
        guard case .simulator(let options, _, _) = self else { return nil }
        return LoadTransport.milliseconds(option, options)
    }

    private static func milliseconds(_ option: String, _ words: [String]) -> Double? {
        guard let place = words.firstIndex(of: option), words.indices.contains(place + 1) else { return nil }
        // A range has two points between its ends.
        let ends = words[place + 1].replacing("..", with: " ").replacing("~", with: " ").split(separator: " ")
        let numbers = ends.compactMap { Double($0) }
        guard let first = numbers.first, let last = numbers.last else { return nil }
        return (words[place + 1].contains("~") ? first : (first + last) / 2) / 1000
    }

    /// Is `true` for options of a simulator that checks nothing, and needs no keys.
    static func isOfFastMode(_ options: [String]) -> Bool { options.joined(separator: " ").contains("--mode fast") }

    package var name: String {
        switch self {
        case .discard: "discard"
        case .simulator(let options, let distance, _):
            (["simulator"] + options + (distance.map { ["behind a relay"] + $0 } ?? [])).joined(separator: " ")
        case .host(let host, let port, _, _): "\(host):\(port)"
        }
    }
}
