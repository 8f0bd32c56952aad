import FanfareTOML
import Laboratory

/// The command `fanfare-load`: finds the subcommand and reports a fault in one line on standard error.
enum LoadCommand {
    static let help = """
        fanfare-load: load scenarios through the whole engine, measured and judged.

        usage: fanfare-load run SCENARIO [options]        one run; exit status 1 on a broken threshold
               fanfare-load saturate SCENARIO [options]   raises the rate until a threshold breaks
               fanfare-load calibrate RESULT… [--costs FILE]   takes the costs that a plan needs from results
               fanfare-load plan --subscribers N --goals-per-second R --within T [--costs FILE]
                   [--audience SHARE] [--round-trip T] [--cores N] [--memory BYTES] [--bandwidth BITS] [--connections N] [--lineups]
               fanfare-load report RESULT --html FILE --hdr FILE   page; HdrHistogram's log
               fanfare-load plot RESULT --svg FILE --png FILE --plot NAME   one plot: latency, spread, throughput, …
               fanfare-load judge RESULT…                 judges results by their scenarios' thresholds as they are now
               fanfare-load merge RESULT… --json FILE     results of engines that ran at the same time, as one
               fanfare-load compare A B [--figure NAME]…  ratios of several runs' figures; exit status 1 if B is worse
               fanfare-load compare --run PROGRAM_A PROGRAM_B SCENARIO [--pairs N] [--keep FOLDER] [--slower PERCENT] [-- OPTIONS…]
               fanfare-load list                          scenarios with their questions and times

        SCENARIO is a shipped scenario's name or a TOML file.

          --json FILE             the result (run: of all repetitions)
          --html FILE             the result as a page (run; report)
          --threshold EXPR        beside the scenario's own: 'goal.last.p99 < 2.5 s'; may be repeated
          --scale X               multiplies subscribers and rates (1)
          --rate X                multiplies the rates alone (1)
          --duration T            shortens the measured time, as in 10 s
          --repeat N              runs the scenario N times (1); saturate: each end of the knee (3)
          --shards N              instead of the scenario's
          --engines N             so many programs share the subscribers; their results are merged (1)
          --engine I              runs the part of engine I of N: says `ready`, and starts at a line of input
          --seed N                instead of the scenario's
          --waste NS              processor time wasted with every push, to show what compare finds (0)

        example:
          fanfare-load run goal-burst --scale 0.01 --json result.json

        """

    static func run(_ arguments: [String]) -> Int32 {
        let rest = Array(arguments.dropFirst())
        do {
            switch arguments.first ?? "help" {
            case "run": return try RunCommand(rest).run()
            case "saturate": return try SaturateCommand(rest).run()
            case "plan": return try PlanCommand(rest).plan()
            case "calibrate": return try PlanCommand(rest).calibrate()
            case "report": return try ReportCommand.report(rest)
            case "judge": return try ReportCommand.judge(rest)
            case "merge": return try ReportCommand.merge(rest)
            case "plot": return try ReportCommand.plot(rest)
            case "compare": return try CompareCommand(rest).compare()
            case "list": return try list()
            case "help", "--help", "-h":
                print(help, terminator: "")
                return ExitStatus.passed
            case let name: throw UsageError("\(name): no such command")
            }
        } catch let error as UsageError {
            Terminal.complain("\(error.description); fanfare-load --help says more")
            return ExitStatus.usage
        } catch let error as TOMLError {
            Terminal.show("\(error)\n")
            return ExitStatus.usage
        } catch {
            Terminal.complain("\(error)")
            return ExitStatus.usage
        }
    }

    private static func list() throws -> Int32 {
        for scenario in try ScenarioFiles.all() {
            print("\(scenario.name), \(scenario.purpose.time): \(scenario.purpose.question)")
        }
        return ExitStatus.passed
    }
}
