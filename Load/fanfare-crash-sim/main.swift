import CrashSimulation
import FanfareTestSupport
import Foundation

// Plays worlds whose engine dies again and again, until one of them shows a violation or the budget is used up.

let usage = """
    usage: fanfare-crash-sim [--seed N] [--seeds M] [--steps S] [--seconds T] [--kind KIND]… [--whole] [--tell]

      --seed N       the first seed (default 1); the following ones count up
      --seeds M      how many seeds (default 50), each of which gives a world of each kind
      --steps S      begins no further seed after so many steps of all worlds
      --seconds T    begins no further seed after so many seconds, once 20 seeds have been played
      --kind KIND    worlds of this kind: alerts, stalls, starts, kept-starts, ends, maintenance, lineups; otherwise of all
      --whole        a crash leaves no part of a write that was not synced
      --tell         prints everything that happens

    A step is a call, an event, a turn of a thread, an answer, a sync or a clock advance that a world draws. What lets a world come to
    rest between them does not count. A world is its kind and its seed, and needs SWIFT_DETERMINISTIC_HASHING=1 in the environment to be
    the same again.
    Exit status: 0 nothing found; 1 a violation, named with its trace, or a fault that never happened; 2 usage.

      fanfare-crash-sim --seeds 1000000 --steps 10000000     ten million steps
      fanfare-crash-sim --seed 17 --seeds 1 --kind ends      one world
    """

/// Number of seeds that a slow machine plays, too: fewer of them might not meet every fault.
let seedsMin: UInt64 = 20

/// Lines of a trace before a violation.
let traceMax = 200

/// Plays a world once more for its trace, and ends the program.
func report(_ violation: String, seed: UInt64, kind: CrashKind, tears: Bool) -> Never {
    var trace: [String] = []
    let again = kind.play(seed: seed, tears: tears) { trace.append($0) }
    for line in trace.suffix(traceMax) { print(line) }
    print("seed \(seed), \(kind.rawValue): \(violation)")
    if again.violation != violation { print("played again: \(again.violation ?? "nothing found")") }
    print(
        "SWIFT_DETERMINISTIC_HASHING=1 fanfare-crash-sim --seed \(seed) --seeds 1 --kind \(kind.rawValue)"
            + "\(tears ? "" : " --whole") --tell")
    exit(1)
}

let program = WorldProgram(
    name: "fanfare-crash-sim", usage: usage,
    options: WorldProgram.Options(
        numbers: ["--seed", "--seeds", "--steps", "--seconds"], switches: ["--whole", "--tell"],
        names: ["--kind": CrashKind.allCases.map(\.rawValue)]))
let arguments = program.read()
guard ProcessInfo.processInfo.environment["SWIFT_DETERMINISTIC_HASHING"] == "1" else {
    program.refuse("set SWIFT_DETERMINISTIC_HASHING=1: without it no world can be played again")
}

let chosen = arguments.names("--kind").compactMap(CrashKind.init)
let tears = !arguments.has("--whole")
let first = arguments.seeds.lowerBound
let stepsMax = arguments.number("--steps").map { Int($0) } ?? .max
let clock = ContinuousClock()
let started = clock.now
let stopsAt = arguments.number("--seconds").map { started + .seconds(Int64($0)) }

let tell: ((String) -> Void)? = arguments.has("--tell") ? { print($0) } : nil
var counts = WorldCounts<CrashOccurrence>()
for seed in arguments.seeds {
    if counts[.steps] >= stepsMax { break }
    if let stopsAt, seed - first >= seedsMin, clock.now >= stopsAt { break }
    for kind in chosen.isEmpty ? CrashKind.allCases : chosen {
        let played = kind.play(seed: seed, tears: tears, onHappening: tell)
        counts += played.counts
        if let violation = played.violation { report(violation, seed: seed, kind: kind, tears: tears) }
    }
}
print("nothing found: from seed \(first), \(counts.text), \((clock.now - started).components.seconds) s")
// One kind, or whole writes, cannot meet everything.
if chosen.isEmpty, tears, !counts.missing.isEmpty {
    print("the run proves nothing: it has met no \(counts.missing.joined(separator: ", no "))")
    exit(1)
}
