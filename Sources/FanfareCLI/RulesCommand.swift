import FanfareDecisions
import FanfareModel
import FanfareRules
import FanfareTOML

/// `fanfare rules`: checks rules files before a service uses them, and prints the rules in effect.
struct RulesCommand {
    private enum Task { case check([String]), show(kind: String?) }

    private let task: Task
    private var rules = Rules.builtIn

    init(_ words: [String]) throws(UsageError) {
        var arguments = Arguments(words)
        var operands: [String] = []
        while let word = try arguments.next() {
            switch word {
            case .option("--rules"): rules = try arguments.rules()
            case .option(let name): throw UsageError("\(name): unknown option; `fanfare rules --help` lists them")
            case .operand(let operand): operands.append(operand)
            }
        }
        let rest = Array(operands.dropFirst())
        switch operands.first {
        case "check":
            guard !rest.isEmpty else { throw UsageError("the file to check is missing") }
            task = .check(rest)
        case "show":
            guard rest.count <= 1 else { throw UsageError("\(rest[1]): expected one topic kind") }
            let beside = [TopicKind.generic.rawValue, "lineups"]
            if let name = rest.first, rules.kinds[TopicKind(name)] == nil, !beside.contains(name) {
                let kinds = rules.kinds.keys.map(\.rawValue).sorted() + beside
                throw UsageError("\(name): there are no rules for it; expected one of \(kinds.joined(separator: ", "))")
            }
            task = .show(kind: rest.first)
        case let other: throw UsageError("\(other.map { "\($0): " } ?? "")expected check FILE, or show")
        }
    }

    func run() throws -> ExitStatus {
        switch task {
        case .check(let files):
            var status = ExitStatus.done
            for file in files {
                do {
                    _ = try Rules(file: file)
                } catch {
                    Console.complain("\(error)")
                    // A file that cannot be read has the graver status, because nothing is known of its rules.
                    status = error.isUnreadable || status == .usage ? .usage : .incomplete
                    continue
                }
                try Console.print("\(file): good\n")
            }
            return status
        case .show("lineups"): try Console.print(rules.lineups.toml + "\n" + rules.costs(of: nil))
        case .show(let name?):
            let kind = TopicKind(name)
            try Console.print(rules[kind].toml(kind: kind) + "\n" + rules.costs(of: kind))
        case .show(nil): try Console.print(rules.toml + "\n" + rules.costs(of: nil))
        }
        return .done
    }

    static let help = """
        Rules say which fields of a topic kind people see, which changes are essential or may alert, and when topics end.

        usage: fanfare rules check FILE…
               fanfare rules show [KIND] [--rules FILE]

          check           reads the files as the engine does: each fault with line, column and the expected value
          show            prints the rules in force as a rules file, of all kinds or of one: football, hockey, volleyball,
                          transit, delivery, ride, queue, generic (topics of no other kind), those of the file, and lineups;
                          and the cost of content states in pushes a second
          --rules FILE    rules of this file, beside the built-in ones

        Exit status: 0 good; 1 a file has faults; 2 usage.

        examples:
          fanfare rules show football > rules.toml
          fanfare rules check rules.toml

        """
}

extension Arguments {
    /// Reads the rules file that the option names.
    mutating func rules() throws(UsageError) -> Rules { try Arguments.rules(at: try rulesFile()) }

    mutating func rulesFile() throws(UsageError) -> String {
        let file = try text("a rules file; `fanfare rules --help` says more")
        if let other = rulesFileGiven, other != file {
            throw UsageError("--rules \(file): rules are one file, and \(other) is named before it")
        }
        rulesFileGiven = file
        return file
    }

    static func rules(at path: String) throws(UsageError) -> Rules {
        do { return try Rules(file: path) } catch { throw UsageError("\(error)") }
    }
}
