import Foundation

/// Costs measured on a machine, from which a plan is computed. `fanfare-load calibrate` takes them from results.
package struct MeasuredCosts: Codable, Sendable, Equatable {
    /// Processor seconds of a shard and of the core per push, of one topic and of a lineup.
    package var cpuPerPush: Double
    package var cpuPerLineupPush: Double
    /// Seconds of a lineup's push that come after the gathering: what is done before, while alerts gather, delays nobody.
    package var lineupSend: Double
    /// Resident bytes per activity with its token, beside `fixedBytes`.
    package var bytesPerActivity: Double
    /// Resident bytes of an engine without activities; `nil` without runs of two sizes, and then those per activity have a part of them.
    package var fixedBytes: Double?
    /// Bytes of a push's body.
    package var bodyBytes: Double
    /// Resident bytes per lineup; like `lineupBodyBytes` `nil` without a run of lineups, and then the costs say nothing of lineups.
    package var bytesPerLineup: Double?
    package var lineupBodyBytes: Double?
    /// Processor seconds of the APNs simulator per push, for predictions of runs on this machine.
    package var cpuPerSimulatedPush: Double
    /// Share of the processors that a push's costs fill while shards and simulator are more threads than there are processors: they wait
    /// for each other, and cost more. 1 without a run of so many shards.
    package var sharedUse: Double
    package var processor: String
    /// Scenarios of the results that the costs are from; `nil` in files of earlier versions.
    package var scenarios: [String]?

    /// HTTP/2 frames, header fields and the token as hex digits, beside the body (`RequestSize` measures 375 for Apple's ids).
    package static let bytesBesideBody = 375.0

    /// - Parameter results: of a run to one topic's followers and, for lineups, of one with lineups; both with a simulator.
    package init(_ results: [LoadResult]) throws {
        func figures(_ isWanted: (LoadResult) -> Bool) -> [[String: Double]] {
            results.filter(isWanted).flatMap(\.runs).map(\.figures)
        }
        func median(_ name: String, _ runs: [[String: Double]]) -> Double? {
            runs.compactMap { $0[name] }.median
        }
        func isOfLineups(_ result: LoadResult) -> Bool {
            result.scenario.hasLineups ?? (result.scenario.name == "lineups")
        }
        for result in results {
            try MeasuredCosts.check(result, isOfLineups: isOfLineups(result))
            guard result.machine.processor == results[0].machine.processor else {
                throw LaboratoryError(
                    "\(result.scenario.name): another machine's result; costs are those of one machine")
            }
        }
        func isCrowded(_ result: LoadResult) -> Bool {
            result.scenario.shards > 1 && result.scenario.shards + 1 > result.machine.processors
        }
        let topics = figures { !isOfLineups($0) && !isCrowded($0) }
        guard let push = median("cpu.per.push", topics) else {
            throw LaboratoryError("no result has the figure cpu.per.push: run a scenario with pushes first")
        }
        cpuPerPush = push
        let lineupPush = median("cpu.per.push", figures(isOfLineups)) ?? push
        cpuPerLineupPush = lineupPush
        lineupSend = MeasuredCosts.perPush(results.filter(isOfLineups)) ?? lineupPush
        (bytesPerActivity, fixedBytes) = MeasuredCosts.memory(figures { !isOfLineups($0) })
        bodyBytes = median("bytes.per.push", topics) ?? 0
        bytesPerLineup = MeasuredCosts.memory(figures(isOfLineups), besides: fixedBytes)
        lineupBodyBytes = median("bytes.per.push", figures(isOfLineups))
        let simulated = topics.compactMap { run in
            run["cpu.apns-simulator"].flatMap { cpu in run["pushes.sent"].map { cpu / max(1, $0) } }
        }
        cpuPerSimulatedPush = simulated.median ?? 0
        sharedUse = 1
        processor = results.first?.machine.processor ?? ""
        scenarios = Set(results.map(\.scenario.name)).sorted()
        let seconds = MeasuredCosts.perPush(results.filter { isCrowded($0) && !isOfLineups($0) })
        if let seconds, let processors = results.first?.machine.processors {
            sharedUse = min(1, (cpuPerPush + cpuPerSimulatedPush) / (seconds * Double(processors)))
        }
    }

    /// Bytes per activity, and those of an engine without any: of the line through the runs with fewest and those with most activities.
    private static func memory(_ runs: [[String: Double]]) -> (perActivity: Double, fixed: Double?) {
        let sizes = Dictionary(
            grouping: runs.compactMap { run in
                run["activities"].flatMap { count in run["memory.resident"].map { (count: count, bytes: $0) } }
            }, by: \.count
        ).mapValues { $0.map(\.bytes).median ?? 0 }
        if let least = sizes.min(by: { $0.key < $1.key }), let most = sizes.max(by: { $0.key < $1.key }),
            least.key < most.key
        {
            let slope = (most.value - least.value) / (most.key - least.key)
            let fixed = least.value - slope * least.key
            // Sizes that differ by less than the runs of one say nothing.
            if slope > 0, fixed > 0 { return (slope, fixed) }
        }
        return (runs.compactMap { $0["memory.per.activity"] }.median ?? 0, nil)
    }

    /// Bytes per activity of runs to lineups, beside those of an engine without any; `nil` without such runs.
    private static func memory(_ runs: [[String: Double]], besides fixed: Double?) -> Double? {
        runs.compactMap { run in
            run["memory.per.activity"].map { bytes in bytes - (run["activities"].map { (fixed ?? 0) / $0 } ?? 0) }
        }.median
    }

    /// Returns the resident bytes of an engine with so many activities.
    func memory(_ activities: Double, ofLineups: Bool) -> Double {
        (fixedBytes ?? 0) + activities * (ofLineups ? bytesPerLineup ?? 0 : bytesPerActivity)
    }

    /// Median of the seconds between two pushes of a goal, from its first one on; `nil` without a goal that reached its last activity.
    ///
    /// A goal counts as often as it has pushes. The milliseconds in which a sweep begins are most of a small audience's time, and a plan is made
    /// for large ones.
    private static func perPush(_ results: [LoadResult]) -> Double? {
        let goals = results.flatMap(\.runs).flatMap(\.goals).compactMap { goal -> (seconds: Double, pushes: Int)? in
            guard let first = goal.first, let last = goal.last, goal.audience >= Int(pushesPerPublicationMin) else {
                return nil
            }
            return ((last - first) / Double(goal.audience), goal.audience)
        }.sorted { $0.seconds < $1.seconds }
        let pushes = goals.reduce(0) { $0 + $1.pushes }
        var before = 0
        return goals.first { goal in
            before += goal.pushes
            return 2 * before > pushes
        }?.seconds
    }

    /// Fewest pushes of a publication, on average, whose cost is that of a push: with few of them the publication's own cost prevails.
    private static let pushesPerPublicationMin = 1000.0
    /// Share of pushes that must have been accepted: retries and dead tokens cost otherwise.
    private static let acceptedMin = 0.999

    /// Refuses a result whose costs are those of something else than of pushes that arrive.
    private static func check(_ result: LoadResult, isOfLineups: Bool) throws(LaboratoryError) {
        let name = result.scenario.name
        func refuse(_ reason: String) -> LaboratoryError { LaboratoryError("\(name): \(reason)") }
        if result.machine.isDebugBuild { throw refuse("a debug build, whose costs say nothing") }
        if (result.scenario.roundTrip ?? 0) + (result.scenario.answerDelay ?? 0) > 0 {
            throw refuse("ran over a distance; calibrate takes runs whose answers come at once, such as goal-burst")
        }
        for run in result.runs {
            if let fault = run.verdict.faults.first {
                throw refuse("a run has a fault, so its costs say nothing: \(fault)")
            }
            // Without the runs that took long the others would be those of a machine's fast minutes.
            if let broken = run.verdict.thresholds.first(where: { !$0.holds && !Threshold.isTime($0.figure) }) {
                throw refuse("a run failed, so its costs are not those of an engine at work: \(broken.sentence)")
            }
            let (sent, accepted) = (run.figures["pushes.sent"] ?? 0, run.figures["pushes.accepted"] ?? 0)
            guard run.figures["cpu.apns-simulator"] != nil else {
                throw refuse("ran without the APNs simulator, whose cost belongs to a prediction")
            }
            guard accepted >= acceptedMin * sent else {
                throw refuse(
                    "of \(Int(sent).spaced) pushes \(Int(accepted).spaced) were accepted; the others cost otherwise")
            }
            let publications = run.figures["updates"] ?? 0
            guard isOfLineups || sent >= pushesPerPublicationMin * publications else {
                throw refuse(
                    "a publication has \((sent / publications).shortened) pushes on average; calibrate takes "
                        + "\(Int(pushesPerPublicationMin).spaced) at least, as goal-burst has")
            }
        }
    }

    package init(file path: String) throws {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw LaboratoryError("\(path): cannot be read")
        }
        do { self = try JSONDecoder().decode(MeasuredCosts.self, from: data) } catch {
            throw LaboratoryError("\(path): no file of costs: \(error)")
        }
    }

    package func write(to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        try encoder.encode(self).write(toFile: path)
    }
}

/// Capacity for an audience, from measured costs: the need for each resource, and which one decides the number of nodes.
package struct CapacityPlan: Sendable, Equatable {
    package struct Wish: Sendable {
        package var subscribers = 1_000_000.0
        /// Share of the subscribers whom each goal concerns.
        package var audienceShare = 0.1
        package var goalsPerSecond = 1.0
        /// Seconds in which a goal is to reach its last activity.
        package var within = 5.0
        /// Seconds of a round trip to APNs.
        package var roundTrip = 0.05
        package var hasLineups = false
        package init() {}

        /// Seconds in which a lineup's alert waits for others.
        private static let gathering = 1.0
        /// Seconds that are left for the pushes, of which the last one has a round trip before it.
        var spreading: Double { within - roundTrip - (hasLineups ? Wish.gathering : 0) }

        /// Returns why no number of nodes fulfils the wish, or why these costs cannot tell; `nil` if a plan can be made.
        package func impossibility(with costs: MeasuredCosts) -> String? {
            if hasLineups, costs.bytesPerLineup == nil {
                return
                    "--lineups: the costs have no run of lineups; calibrate with a result of the scenario lineups, too"
            }
            guard spreading <= 0 else { return nil }
            return "--within: a push takes \(roundTrip.shortened) s to APNs and back"
                + (hasLineups ? ", after a second in which alerts gather" : "") + ", however many nodes there are"
        }
    }

    /// Resources of one node.
    package struct Node: Sendable {
        package var cores = 8.0
        package var memoryBytes = 32e9
        package var bytesPerSecond = 1.25e9
        package var connections = 64.0
        package init() {}
    }

    /// Share of a resource that a plan uses at most; the rest is for bursts and for the other node's work when one fails.
    private static let use = 0.7
    static let streams = 1000.0

    package var pushesPerSecond: Double
    package var cores: Double
    package var memoryBytes: Double
    package var connections: Double
    package var bytesPerSecond: Double
    package var nodes: Int
    /// Resource that needs most nodes.
    package var bottleneck: String

    package init(_ wish: Wish, _ costs: MeasuredCosts, node: Node = Node()) {
        let audience = wish.subscribers * wish.audienceShare
        // A goal alone needs its audience in what is left of the time; goals that overlap need their sum each second.
        pushesPerSecond = audience * max(1 / wish.spreading, wish.goalsPerSecond)
        cores = pushesPerSecond * (wish.hasLineups ? costs.cpuPerLineupPush : costs.cpuPerPush)
        memoryBytes = costs.memory(wish.subscribers, ofLineups: wish.hasLineups)
        connections = pushesPerSecond * wish.roundTrip / CapacityPlan.streams
        let bodyBytes = wish.hasLineups ? costs.lineupBodyBytes ?? 0 : costs.bodyBytes
        bytesPerSecond = pushesPerSecond * (bodyBytes + MeasuredCosts.bytesBesideBody)
        let needs = [
            ("processors", cores / node.cores), ("memory", memoryBytes / node.memoryBytes),
            ("connections", connections / node.connections), ("bandwidth", bytesPerSecond / node.bytesPerSecond),
        ]
        let worst = needs.max { $0.1 < $1.1 } ?? ("processors", 1)
        bottleneck = worst.0
        nodes = max(1, CapacityPlan.whole(worst.1 / CapacityPlan.use))
    }

    /// Rounds up. A wish may be larger than any number of 64 bits.
    private static func whole(_ number: Double) -> Int { Int(exactly: number.rounded(.up)) ?? .max }

    package var lines: [String] {
        [
            "pushes a second   \(CapacityPlan.whole(pushesPerSecond).spaced)",
            "processors        \(cores.shortened) busy",
            "memory            \((memoryBytes / 1e9).shortened) GB",
            "connections       \(CapacityPlan.whole(connections).spaced)",
            "bandwidth         \((bytesPerSecond * 8 / 1e9).shortened) Gbit/s",
            "nodes             \(nodes.spaced), each used to 70 % at most; \(bottleneck) break first",
        ]
    }
}
