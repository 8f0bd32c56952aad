/// Comparison of a result with its predictions: the times of its goals, and what its pushes and activities took.
package struct PredictionCheck: Sendable {
    /// Goals of one topic and audience, of all runs of a result. Their median is compared: the machine's other work delays some of them.
    package struct Row: Sendable {
        package let topic: String
        package let audience: Int
        package let predicted: Double
        /// Seconds to the last activity, sorted.
        package let measured: [Double]

        package var median: Double { measured.median ?? 0 }
        /// Share by which the prediction is above the median.
        package var error: Double { predicted / median - 1 }
    }

    /// Need for a resource, of which the plan and the run have a figure each.
    package struct Need: Sendable {
        package let name: String
        package let unit: String
        package let predicted: Double
        package let measured: Double
        /// Is `false` for memory, of which a plan is to be right for millions, and a run on this machine may be of thousands.
        package let isJudged: Bool

        package var error: Double { predicted / measured - 1 }
    }

    package let rows: [Row]
    package let needs: [Need]
    private let unfinished: Int

    /// Share by which a prediction may be off.
    package static let errorMax = 0.2

    /// - Throws: `LaboratoryError` for a result that says nothing of these costs.
    package init(_ result: LoadResult, _ costs: MeasuredCosts) throws(LaboratoryError) {
        guard !result.machine.isDebugBuild else {
            throw LaboratoryError("\(result.scenario.name): a debug build, whose times say nothing")
        }
        guard result.machine.processor == costs.processor else {
            throw LaboratoryError(
                "the result is of \(result.machine.processor), the costs are of \(costs.processor); calibrate on the result's machine"
            )
        }
        if costs.scenarios?.contains(result.scenario.name) == true {
            throw LaboratoryError(
                "\(result.scenario.name): a run of this scenario is among those of the costs, which predict others only"
            )
        }
        if let fault = result.runs.flatMap(\.verdict.faults).first {
            throw LaboratoryError("\(result.scenario.name): a run has a fault, so its times say nothing: \(fault)")
        }
        let goals = result.runs.flatMap(\.goals).filter { $0.last != nil }
        let groups = Dictionary(grouping: goals) { "\($0.topic) \($0.followers ?? $0.audience)" }
        rows = groups.values.map { goals in
            let prediction = GoalPrediction(goals[0], of: result.scenario, processors: result.machine.processors)
            return Row(
                topic: goals[0].topic, audience: Int(prediction.audience), predicted: prediction.last(costs),
                measured: goals.compactMap(\.last).sorted())
        }.sorted { ($0.topic, $0.audience) < ($1.topic, $1.audience) }
        guard !rows.isEmpty else { throw LaboratoryError("the result has no goal that reached its last activity") }
        unfinished = result.runs.reduce(0) { $0 + Int($1.figures["goals.unfinished"] ?? 0) }
        needs = PredictionCheck.needs(result, costs)
    }

    /// Costs that a plan multiplies, beside the measured ones: medians of all runs.
    private static func needs(_ result: LoadResult, _ costs: MeasuredCosts) -> [Need] {
        let hasLineups = result.scenario.hasLineups ?? false
        func need(_ name: String, _ figure: String, _ unit: String, _ cost: Double?, factor: Double = 1) -> Need? {
            let measured = result.runs.compactMap { $0.figures[figure] }.median
            guard let cost, cost > 0, let measured, measured > 0 else { return nil }
            return Need(
                name: name, unit: unit, predicted: cost * factor, measured: measured * factor,
                isJudged: figure != "memory.per.activity")
        }
        let activities =
            result.runs.compactMap { $0.figures["activities"] }.median ?? Double(result.scenario.subscribers)
        let memory =
            hasLineups && costs.bytesPerLineup == nil
            ? nil : costs.memory(activities, ofLineups: hasLineups) / max(1, activities)
        return [
            need(
                "processor time a push", "cpu.per.push", "us",
                hasLineups ? costs.cpuPerLineupPush : costs.cpuPerPush, factor: 1e6),
            need("memory an activity", "memory.per.activity", "B", memory),
            need("body of a push", "bytes.per.push", "B", hasLineups ? costs.lineupBodyBytes : costs.bodyBytes),
        ].compactMap(\.self)
    }

    package var passes: Bool {
        let errors = rows.map(\.error) + needs.filter(\.isJudged).map(\.error)
        return unfinished == 0 && errors.allSatisfy { abs($0) <= PredictionCheck.errorMax }
    }

    package var lines: [String] {
        var lines = rows.map { row in
            "\(row.topic), \(row.audience.spaced) activities: predicted \(row.predicted.shortened) s, measured \(row.median.shortened) s, "
                + "\((100 * row.error).shortened) % off"
                + (row.measured.count > 1
                    ? "; median of \(row.measured.count) goals, \(row.measured[0].shortened) to "
                        + "\(row.measured[row.measured.count - 1].shortened) s" : "")
        }
        lines += needs.map { need in
            "\(need.name): predicted \(need.predicted.shortened) \(need.unit), measured \(need.measured.shortened) \(need.unit), "
                + "\((100 * need.error).shortened) % off"
        }
        if unfinished > 0 {
            lines.append("\(unfinished) goals had not reached their last activity, which no plan predicts")
        }
        return lines
    }
}
