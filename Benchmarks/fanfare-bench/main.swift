// Google Benchmark's program, with our own options in front of its own:
//   --items=N        items through each queue and run (default 4000000)
//   --activities=N   largest audience of sweeps and publishing (default 1000000)
//   --memory=N       instead: loads N activities and prints the process's memory
//   --fairness=N     instead: alerts of small audiences beside a sweep of N, and prints how long they took
//   --overload=N     instead: more versions than a sweep of N can bring, and prints what that did
// `Benchmarks/bench` is how people run it.

import CFanfareBench
import Glibc

/// Takes an option of ours out of the arguments. Kept at 2,000 at least, so that every share of it is a size.
func takeOption(_ name: String, from arguments: inout [String]) -> Int? {
    let prefix = "--\(name)="
    guard let index = arguments.firstIndex(where: { $0.hasPrefix(prefix) }) else { return nil }
    let text = arguments.remove(at: index).dropFirst(prefix.count)
    guard let value = Int(text), value >= 2000 else {
        fatalError("--\(name)=\(text): a number of at least 2000 is wanted")
    }
    return value
}

var arguments = CommandLine.arguments
let items = takeOption("items", from: &arguments) ?? 4_000_000
let activities = takeOption("activities", from: &arguments) ?? 1_000_000
if let activities = takeOption("memory", from: &arguments) {
    Memory.report(activities: activities)
} else if let activities = takeOption("fairness", from: &arguments) {
    Fairness.report(activities: activities)
} else if let activities = takeOption("overload", from: &arguments) {
    Overload.report(activities: activities)
} else {
    QueueRaces.register(items: items)
    FanOut.register(activities: activities)
    var pointers = arguments.map { strdup($0) }
    exit(bench_main(Int32(pointers.count), &pointers))
}
