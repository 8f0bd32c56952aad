@_exported public import FanfareModel
import FanfareTOML

extension LineupRules {
    /// Name of the table, which no topic kind can have.
    static let table = "lineups"

    init(_ table: TableReader) {
        self.init()
        defer { table.finish() }
        if let order = table.choice("order", of: Order.allCases.map { (name: $0.rawValue, value: $0) }) {
            self.order = order
        }
        if let dwell = table.duration("dwell", .seconds(1) ... .seconds(3600)) { self.dwell = dwell }
        // A shorter turn would not exceed Apple's two seconds of animation (rule U5).
        round = table.duration("round", .seconds(2) ... .seconds(3600))
        if let interval = table.duration("minimumInterval", .zero ... .seconds(3600)) { minimumInterval = interval }
        // People who watch the match would notice a longer delay.
        if let gather = table.duration("gather", .zero ... .seconds(5)) { self.gather = gather }
        if let size = table.bucket("rotationPushes") { rotationPushes = size }
    }

    /// The lineup rules as their table in a rules file, `[lineups]`.
    public var toml: String {
        var lines = [
            "[\(LineupRules.table)]", "order = \(quoted(order.rawValue))", "dwell = \(quoted(dwell.inRules))",
        ]
        if let round { lines.append("round = \(quoted(round.inRules))") }
        lines += [
            "minimumInterval = \(quoted(minimumInterval.inRules))", "gather = \(quoted(gather.inRules))",
            "rotationPushes = { \(rotationPushes.inRules) }",
        ]
        return lines.joined(separator: "\n") + "\n"
    }
}
