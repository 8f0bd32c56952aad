import FanfareDecisions
import FanfareFeeds
import FanfareModel
import FanfareReplay

/// `fanfare diff`: compares the decisions of two sets of rules on one feed, or finds where two decision logs differ.
struct DiffCommand {
    enum Task {
        case rules(a: (name: String, rules: Rules), b: (name: String, rules: Rules), paths: [String])
        case logs(a: String, b: String)
    }

    let task: Task
    private var feed = FeedOptions()
    private var printsJSON = false

    init(_ words: [String]) throws(UsageError) {
        var arguments = Arguments(words)
        var paths: [String] = []
        var rules: [(name: String, rules: Rules)] = []
        while let word = try arguments.next() {
            switch word {
            case .option("--rules"):
                let path = try arguments.text("a rules file, or built-in")
                rules.append((path, path == DiffCommand.builtIn ? .builtIn : try Arguments.rules(at: path)))
            case .option("--json"): printsJSON = true
            case .option("--format"): feed.format = try arguments.format()
            case .option("--kickoff"): feed.kickoff = try arguments.time()
            case .option(let name): throw UsageError("\(name): unknown option; `fanfare diff --help` lists them")
            case .operand(let path): paths.append(path)
            }
        }
        switch rules.count {
        case 2:
            guard !paths.isEmpty, !paths.contains("-") else {
                throw UsageError("the feed is missing: files or folders")
            }
            task = .rules(a: rules[0], b: rules[1], paths: paths)
        case 0:
            guard paths.count == 2 else {
                throw UsageError("expected two decision logs, or --rules twice and a feed")
            }
            task = .logs(a: paths[0], b: paths[1])
        default: throw UsageError("--rules: expected it twice; \(DiffCommand.builtIn) stands for the built-in ones")
        }
    }

    private static let builtIn = "built-in"

    func run() throws -> ExitStatus {
        switch task {
        case .rules(let a, let b, let paths):
            let comparison: RulesComparison
            do {
                try Feed.requireRereadable(paths)
                comparison = try RulesComparison(a.rules, b.rules, paths: paths, feed: feed)
            } catch {
                throw UsageError("\(error)")
            }
            try Console.print(
                printsJSON ? comparison.json(a.name, b.name) : Console.quoted(lines: comparison.text(a.name, b.name)))
            return comparison.essentialDelayed == 0 ? .done : .incomplete
        case .logs(let a, let b):
            let comparison: LogComparison
            do { comparison = try LogComparison(a, b) } catch { throw UsageError("\(error)") }
            try Console.print(printsJSON ? comparison.json : Console.quoted(lines: comparison.text))
            return comparison.areEqual ? .done : .incomplete
        }
    }

    static let help = """
        Compares the decisions of two sets of rules on one feed, or two decision logs.

        usage: fanfare diff --rules A --rules B FEED… [--json]
               fanfare diff LOG_A LOG_B [--json]

          --rules FILE     twice; built-in stands for the rules without a file
          --json           one JSON object instead of a table
          --format F, --kickoff T   as in `fanfare replay`

        The table of two sets of rules has pushes per activity and hour, alerts, the waits of visible changes, and essential
        events that waited (essential in either set), of which there must be none. That of two logs has the events with different
        outcomes.

        Exit status: 0 nothing essential waited, or the logs are equal; 1 an essential event waited, or the logs differ; 2 usage.

        examples:
          fanfare diff --rules built-in --rules rules.toml day.ndjson
          fanfare diff yesterday.log today.log

        """
}

/// One feed under two sets of rules.
struct RulesComparison {
    private var a: DecisionTally
    private var b: DecisionTally

    init(_ a: Rules, _ b: Rules, paths: [String], feed: FeedOptions) throws(ReplayError) {
        self.a = try DecisionTally(of: paths, feed: feed, rules: a, essentialIn: [a, b])
        self.b = try DecisionTally(of: paths, feed: feed, rules: b, essentialIn: [a, b])
    }

    var essentialDelayed: Int { a.total.essentialDelayed + b.total.essentialDelayed }

    private typealias Pair = (kind: String, a: DecisionTally.Figures, b: DecisionTally.Figures)

    /// Figures of each kind, and of all kinds together where there are several.
    private var pairs: [Pair] {
        let (a, b) = (self.a.figures, self.b.figures)
        let kinds = Set(a.keys).union(b.keys).sorted { $0.rawValue < $1.rawValue }
        let pairs = kinds.map { ($0.rawValue, a[$0] ?? .init(), b[$0] ?? .init()) as Pair }
        return pairs.count > 1 ? pairs + [("all", self.a.total, self.b.total)] : pairs
    }

    func text(_ nameA: String, _ nameB: String) -> String {
        var table = Table(["", nameA, nameB, "change"])
        for pair in pairs {
            table.add([pair.kind])
            let values = zip(pair.a.values, pair.b.values)
            for (name, (a, b)) in zip(DecisionTally.Figures.names, values) {
                table.add(["  " + name.text, name.format(a), name.format(b), name.change(a, b)])
            }
        }
        return table.text
    }

    func json(_ nameA: String, _ nameB: String) -> String {
        var kinds = JSONObject()
        for pair in pairs { kinds[pair.kind] = ["a": pair.a.json, "b": pair.b.json] }
        let object: JSONValue = [
            "a": .string(nameA), "b": .string(nameB), "essentialDelayed": .int(Int64(essentialDelayed)),
            "kinds": .object(kinds),
        ]
        return object.text + "\n"
    }
}

extension DecisionTally {
    /// Counts the decisions of a whole feed.
    init(of paths: [String], feed: FeedOptions, rules: Rules, essentialIn all: [Rules]) throws(ReplayError) {
        self.init(essentialIn: all)
        var replay = try DecisionReplay(paths: paths, feed: feed, rules: rules)
        while let (_, decisions) = replay.next() { decisions.forEachRecord { note($0, $1) } }
    }
}
