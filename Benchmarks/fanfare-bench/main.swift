// Google Benchmark's program, with our own options in front of its own:
//   --items=N        items through each queue and run (4000000)
//   --activities=N   largest audience of sweeps and publishing, and all activities of the shards (1000000)
//   --slower=N       makes sweeps and publishing N per cent slower, to show whether a comparison detects it
//   --memory=N       instead: loads N activities and prints the process's memory
//   --fairness=N     instead: sends alerts to small audiences beside a sweep of N and prints their latency
//   --overload=N     instead: publishes more versions than a sweep of N can send and prints the effect
//   --decisions=N    instead: runs N events or more of each feed through decoder and decision core and prints the rates
//   --feed=NAME      runs only this feed of `--decisions` (native/orders), for a profile
//   --lineups=N      instead: makes N different lineups of five topics and prints their memory and the cost of payloads
//   --orders=N       instead: publishes a rush of N orders with a follower each and prints its cost; --deliveries=N: with alerts and ends
//   --restart=N      instead: restarts a core of N topics from its whole log and from a checkpoint, and prints the times
//   --store=PART     instead: an engine with a store, durability, rewriting, people, ends, restart, cost; sizes by --people,
//                    --topics, --followers, --entries, --rate, --seconds, --sweeps, --rounds, and
//                    --folder=PATH for the folder in which stores are made
// `Benchmarks/bench` is the script that runs it.

import CFanfareBench
import Glibc

/// Takes one of our options out of the arguments. Sizes are at least 2,000, so that each share of them is at least one.
func takeOption(_ name: String, atLeast least: Int = 2000, from arguments: inout [String]) -> Int? {
    let prefix = "--\(name)="
    guard let index = arguments.firstIndex(where: { $0.hasPrefix(prefix) }) else { return nil }
    let argument = arguments.remove(at: index)
    guard let value = Int(argument.dropFirst(prefix.count)), (least...1_000_000_000).contains(value) else {
        let line = Array("fanfare-bench: \(argument): expected a whole number from \(least) to 1000000000\n".utf8)
        write(STDERR_FILENO, line, line.count)
        exit(2)
    }
    return value
}

/// Takes a name out of the arguments.
func takeText(_ name: String, from arguments: inout [String]) -> String? {
    let prefix = "--\(name)="
    guard let index = arguments.firstIndex(where: { $0.hasPrefix(prefix) }) else { return nil }
    return String(arguments.remove(at: index).dropFirst(prefix.count))
}

/// Takes the part of the benchmarks of stores that is to run, out of the arguments, and the sizes of it.
func takeStores(from arguments: inout [String]) -> (part: Stores.Part, sizes: StoreSizes)? {
    guard let name = takeText("store", from: &arguments) else { return nil }
    guard let part = Stores.Part(rawValue: name) else {
        let names = Stores.Part.allCases.map(\.rawValue).joined(separator: ", ")
        let line = Array("fanfare-bench: --store=\(name): expected one of \(names)\n".utf8)
        write(STDERR_FILENO, line, line.count)
        exit(2)
    }
    var sizes = StoreSizes()
    for (name, size) in [
        ("people", \StoreSizes.people), ("topics", \.topics), ("followers", \.followers), ("entries", \.entries),
        ("rate", \.rate),
        ("seconds", \.seconds),
        ("sweeps", \.sweeps), ("rounds", \.rounds),
    ] {
        if let value = takeOption(name, atLeast: 1, from: &arguments) { sizes[keyPath: size] = value }
    }
    if let folder = takeText("folder", from: &arguments) { sizes.folder = folder }
    return (part, sizes)
}

var arguments = CommandLine.arguments
let items = takeOption("items", from: &arguments) ?? 4_000_000
let activities = takeOption("activities", from: &arguments) ?? 1_000_000
// Set before anything is timed.
FanOut.slower = Double(takeOption("slower", atLeast: 1, from: &arguments) ?? 0) / 100
let feed = takeText("feed", from: &arguments)
if let activities = takeOption("memory", from: &arguments) {
    Memory.report(activities: activities)
} else if let activities = takeOption("fairness", from: &arguments) {
    Fairness.report(activities: activities)
} else if let activities = takeOption("overload", from: &arguments) {
    Overload.report(activities: activities)
} else if let events = takeOption("decisions", from: &arguments) {
    Decisions.report(events: events, only: feed)
} else if let lineups = takeOption("lineups", from: &arguments) {
    Lineups.report(lineups: lineups)
} else if let orders = takeOption("orders", from: &arguments) {
    Orders.report(orders: orders, plain: true)
} else if let orders = takeOption("deliveries", from: &arguments) {
    Orders.report(orders: orders, plain: false)
} else if let topics = takeOption("restart", from: &arguments) {
    Restarts.report(topics: topics)
} else if let stores = takeStores(from: &arguments) {
    Stores.report(stores.part, stores.sizes)
} else {
    QueueRaces.register(items: items)
    FanOut.register(activities: activities)
    Shards.register(activities: activities)
    var pointers = arguments.map { strdup($0) }
    exit(bench_main(Int32(pointers.count), &pointers))
}
