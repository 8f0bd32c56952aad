/// The `fanfare` command: finds the subcommand and reports a fault in one line on standard error.
enum FanfareCommand {
    static let version = "0.1.0"

    static func run(_ arguments: [String]) -> ExitStatus {
        let name = arguments.first ?? "help"
        let rest = Array(arguments.dropFirst())
        do {
            switch name {
            case "replay": return try run(rest, help: ReplayCommand.help) { try ReplayCommand($0).run() }
            case "generate": return try run(rest, help: GenerateCommand.help) { try GenerateCommand($0).run() }
            case "explain": return try run(rest, help: ExplainCommand.help) { try ExplainCommand($0).run() }
            case "preview": return try run(rest, help: PreviewCommand.help) { try PreviewCommand($0).run() }
            case "diff": return try run(rest, help: DiffCommand.help) { try DiffCommand($0).run() }
            case "log": return try run(rest, help: LogCommand.help) { try LogCommand($0).run() }
            case "people": return try run(rest, help: PeopleCommand.help) { try PeopleCommand($0).run() }
            case "rules": return try run(rest, help: RulesCommand.help) { try RulesCommand($0).run() }
            case "version", "--version":
                return try run(rest, help: "usage: fanfare version\n\nexample: fanfare version\n") {
                    guard $0.isEmpty else { throw UsageError("\($0[0]): version takes nothing") }
                    try Console.print("fanfare \(version)\n")
                    return .done
                }
            case "help", "--help", "-h":
                try Console.print(try help(of: rest.first))
                return .done
            default: throw UsageError("\(name): unknown command; `fanfare --help` lists them")
            }
        } catch {
            let command =
                ["replay", "explain", "preview", "diff", "generate", "log", "people", "rules", "version"].contains(name)
                ? "fanfare \(name)" : "fanfare"
            let unwritten = error as? OutputError
            if unwritten?.hasLostItsReader != true { Console.complain("\(command): \(error)") }
            return unwritten == nil ? .usage : .incomplete
        }
    }

    private static func run(
        _ arguments: [String], help: String, _ command: ([String]) throws -> ExitStatus
    ) throws -> ExitStatus {
        let options = arguments.prefix { $0 != "--" }
        guard options.contains("--help") || options.contains("-h") else { return try command(arguments) }
        try Console.print(help)
        return .done
    }

    private static func help(of command: String?) throws(UsageError) -> String {
        switch command {
        case nil: help
        case "replay": ReplayCommand.help
        case "generate": GenerateCommand.help
        case "explain": ExplainCommand.help
        case "preview": PreviewCommand.help
        case "diff": DiffCommand.help
        case "log": LogCommand.help
        case "people": PeopleCommand.help
        case "rules": RulesCommand.help
        case let other?: throw UsageError("help \(other): unknown command; `fanfare --help` lists them")
        }
    }

    private static let help = """
        fanfare keeps iOS Live Activities current: it reads live feeds, decides which changes are worth showing, and fans each
        update out through Apple's push service.

        usage: fanfare COMMAND

          replay     plays a recorded or a live feed to subscribers
          explain    tells the story of a topic: its events, its pushes, and the reasons for both
          preview    draws every presentation of a card, at a moment or as a story
          diff       compares the decisions of two sets of rules on a feed, or two decision logs
          generate   makes a feed to replay
          log        shows and checks the log of a store, sets an entry aside
          people     imports, exports, counts, checks and removes the people of a store
          rules      checks and prints rules files
          version    prints the version
          help       prints this; `fanfare COMMAND --help` says more about a command

        examples:
          fanfare generate match-day --seed 7 --output day.ndjson
          fanfare replay day.ndjson --speed max --subscribers 1000000
          fanfare replay day.ndjson --decisions - | grep published

        """
}
