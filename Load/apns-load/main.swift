import FanfareAPNs
import FanfareLoop
@preconcurrency import Glibc

private let help = """
    apns-load: pushes to an APNs simulator through Fanfare's shard and connection pool, on one thread, and nothing else.

    usage: apns-load push --port P --ca FILE --key FILE.p8 [options]
           apns-load prepare --port P --key FILE.p8 --output FOLDER [--activities N]

      push       publishes to N activities again and again, each time when everybody has the one before; prints
                 `pushes=… seconds=… cpu_seconds=… connections=… allocations_per_push=… openssl_allocations_per_push=…`: from
                 each publication to its last accepted push, time and processor time; connections at the end; and how often
                 memory was asked for from the second publication on
      prepare    writes the same pushes as files, for h2load and apns-floor

      --activities N    each with a token of 80 bytes (100000)
      --pushes N        a multiple of the activities (as many)
      --connections N   (1); auto: as the engine does by default, by the distance and the audience; push only
      --pause S         seconds of quiet before each publication (0); push only
      --lineups N       every activity has a lineup of its own of N topics, of which the first has the news (0: all follow
                        one topic); push only
      --beside N        activities that follow a small topic, with a goal every 20 ms while the others are served; push only,
                        which then prints `beside_seconds=…` as well: from each of them to its last accepted push (0)
      --news KIND       update, or goal: with an alert, which lineups gather for a second (update); push only

    The server is localhost. `make bench-apns` runs all of it: Benchmarks/README.md.

    """

private struct UsageError: Error {
    let text: String
}

/// Request of a command line: the options behind the command.
private struct Request {
    var options = Pusher.Options()
    var output = ""

    init(_ words: ArraySlice<String>) throws {
        var arguments = words
        var pushes: Int?
        var caFile: String?
        var port: UInt16 = 0
        while let option = arguments.popFirst() {
            guard let value = arguments.popFirst() else {
                throw UsageError(text: "\(option): unknown, or without a value")
            }
            func number(_ most: Int) throws -> Int {
                guard let number = Int(value), 1...most ~= number else {
                    throw UsageError(text: "\(option) \(value): expected a number from 1 to \(most)")
                }
                return number
            }
            switch option {
            case "--port": port = UInt16(try number(65_535))
            case "--ca": caFile = value
            case "--key": options.keyFile = value
            case "--output": output = value
            case "--activities": options.activities = try number(100_000_000)
            case "--pushes": pushes = try number(1_000_000_000)
            case "--connections": options.connections = value == "auto" ? nil : try number(1000)
            case "--pause":
                guard let seconds = Double(value), (0...60).contains(seconds) else {
                    throw UsageError(text: "--pause \(value): expected seconds from 0 to 60")
                }
                options.pause = .milliseconds(Int64(seconds * 1000))
            case "--lineups": options.lineups = try number(Workload.lineupsMax)
            case "--beside": options.beside = try number(1_000_000)
            case "--news":
                guard let kind = ["update", "goal"].firstIndex(of: value) else {
                    throw UsageError(text: "--news \(value): expected update or goal")
                }
                options.isGoal = kind == 1
            default: throw UsageError(text: "\(option): unknown option")
            }
        }
        options.pushes = pushes ?? options.activities
        guard options.pushes % options.activities == 0 else {
            throw UsageError(text: "--pushes \(options.pushes): no multiple of \(options.activities) activities")
        }
        options.endpoint = Endpoint(host: "localhost", port: port, caFile: caFile)
    }
}

/// Pushes, and prints the figures.
private func push(_ options: Pusher.Options) throws {
    let result = try Pusher.run(options)
    func text(_ number: Double) -> String { "\((number * 10_000).rounded() / 10_000)" }
    func list(_ numbers: [Double]) -> String { numbers.map(text).joined(separator: ",") }
    var line = "pushes=\(result.accepted) seconds=\(list(result.seconds)) cpu_seconds=\(list(result.cpuSeconds))"
    line += " connections=\(result.connections)"
    if let allocations = result.allocationsPerPush {
        line += " allocations_per_push=\(text(allocations.ours))"
        line += " openssl_allocations_per_push=\(text(allocations.openSSL))"
    }
    if options.beside > 0 { line += " beside_seconds=\(list(result.besideSeconds))" }
    print(line)
}

private func run() throws -> Int32 {
    var arguments = CommandLine.arguments.dropFirst()
    let command = arguments.popFirst() ?? "--help"
    guard command != "--help", command != "-h" else {
        print(help, terminator: "")
        return 0
    }
    let request = try Request(arguments)
    switch command {
    case "push": try push(request.options)
    case "prepare":
        let workload = try Workload(activities: request.options.activities)
        try Preparation.write(
            workload, keyFile: request.options.keyFile, host: request.options.endpoint.host, to: request.output)
    default: throw UsageError(text: "\(command): no such command")
    }
    return 0
}

/// Runs the client and reports a failure. A function, not top-level code: callbacks from libuv must not belong to the main actor.
private func runAndReport() -> Int32 {
    do { return try run() } catch let error as UsageError {
        fputs("apns-load: \(error.text); --help says what there is\n", stderr)
        return 2
    } catch {
        fputs("apns-load: \(error)\n", stderr)
        return 1
    }
}

FileLimit.raise()
exit(runAndReport())
