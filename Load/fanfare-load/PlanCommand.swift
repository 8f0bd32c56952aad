import FanfareModel
import Laboratory

/// `fanfare-load plan` and `fanfare-load calibrate`.
struct PlanCommand {
    private var wish = CapacityPlan.Wish()
    private var node = CapacityPlan.Node()
    private var costsFile = "fanfare-costs.json"
    private var resultFiles: [String] = []
    /// Result whose goals the plan's costs are to predict.
    private var checkedFile: String?

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let word = rest.popFirst() {
            if word == "--lineups" {
                wish.hasLineups = true
                continue
            }
            guard word.hasPrefix("--") else {
                resultFiles.append(word)
                continue
            }
            guard let text = rest.popFirst() else {
                throw UsageError("\(word): the value is missing, or there is no such option")
            }
            try set(word, text)
        }
    }

    private mutating func set(_ option: String, _ text: String) throws {
        switch option {
        case "--costs": costsFile = text
        case "--check": checkedFile = text
        case "--subscribers": wish.subscribers = try PlanCommand.number(option, text)
        case "--audience": wish.audienceShare = try PlanCommand.number(option, text)
        case "--goals-per-second": wish.goalsPerSecond = try PlanCommand.number(option, text)
        case "--within": wish.within = try PlanCommand.seconds(option, text)
        case "--round-trip": wish.roundTrip = try PlanCommand.seconds(option, text)
        case "--cores": node.cores = try PlanCommand.number(option, text)
        case "--memory": node.memoryBytes = try PlanCommand.number(option, text)
        case "--bandwidth": node.bytesPerSecond = try PlanCommand.number(option, text) / 8
        case "--connections": node.connections = try PlanCommand.number(option, text)
        default: throw UsageError("\(option): no such option")
        }
    }

    /// A number, perhaps with k, M or G.
    private static func number(_ option: String, _ text: String) throws -> Double {
        let factors: [Character: Double] = ["k": 1e3, "M": 1e6, "G": 1e9]
        let factor = text.last.flatMap { factors[$0] }
        guard let number = Double(factor == nil ? text : String(text.dropLast())), number > 0, number < 1e15 else {
            throw UsageError("\(option) \(text): expected a number above 0, perhaps with k, M or G, as in 100M")
        }
        return number * (factor ?? 1)
    }

    private static func seconds(_ option: String, _ text: String) throws -> Double {
        guard let duration = Duration(words: text), duration > .zero else {
            throw UsageError("\(option) \(text): expected a duration, as in 5s or 80ms")
        }
        return duration / .seconds(1)
    }

    func plan() throws -> Int32 {
        guard resultFiles.isEmpty else { throw UsageError("\(resultFiles[0]): plan takes options only") }
        guard wish.audienceShare <= 1 else {
            throw UsageError("--audience: a share of the subscribers, above 0 and at most 1")
        }
        let costs = try MeasuredCosts(file: costsFile)
        if let checkedFile { return try check(LoadResult(file: checkedFile), costs) }
        if let reason = wish.impossibility(with: costs) { throw UsageError(reason) }
        let plan = CapacityPlan(wish, costs, node: node)
        let cost = wish.hasLineups ? costs.cpuPerLineupPush : costs.cpuPerPush
        print("costs measured on \(costs.processor): \((cost * 1e6).shortened) us a push")
        print(plan.lines.joined(separator: "\n"))
        return ExitStatus.passed
    }

    /// Predicts the goals of a result, and compares.
    private func check(_ result: LoadResult, _ costs: MeasuredCosts) throws -> Int32 {
        let check = try PredictionCheck(result, costs)
        print(check.lines.joined(separator: "\n"))
        return check.passes ? ExitStatus.passed : ExitStatus.broken
    }

    func calibrate() throws -> Int32 {
        guard !resultFiles.isEmpty else { throw UsageError("calibrate: name results of fanfare-load run --json") }
        try MeasuredCosts(resultFiles.map { try LoadResult(file: $0) }).write(to: costsFile)
        print("costs in \(costsFile)")
        return ExitStatus.passed
    }
}
