import Foundation
import Simulation

// Runs simulated worlds, one after the other, until one of them shows a violation or the budget is used up.

let usage = """
    usage: fanfare-sim [--seed N] [--seeds M] [--steps S] [--seconds T] [--activities N] [--topics N] [--audit N]
                       [--without TROUBLE]… [--announce] [--tell] [--troubles]

      --seed N         the first world's seed (default 1); the following ones count up
      --seeds M        how many worlds (default 50)
      --steps S        steps per world (default 2000)
      --seconds T      begins no further world after so many seconds
      --activities N   activities per world at a time, at most; otherwise each seed chooses
      --topics N       topics per world; otherwise each seed chooses
      --audit N        audits the parts of the shards after every Nth step (default 1), which is most of a step's time; a world that
                       shows a violation is played once more and audited after every step; `(--audit N)` at the end of the line says
                       that it then shows none
      --without TROUBLE  worlds that do not have it: refusals, ids, order, comebacks, forgetting, silence, clocks, lanes,
                         environments, hand-overs
      --troubles       prints how often each kind of trouble met a goal, an end, a start or a hand-over
      --tell           tells everything that happens: for one world
      --announce       names each world on standard error before it runs: for faults that crash

    A world is its seed, its steps and its options: the same ones show the same again.
    Exit status: 0 nothing found; 1 a violation, named on standard output; 2 usage.

      fanfare-sim --seed 17 --seeds 1          one world
      fanfare-sim --seeds 5000                 ten million steps
    """

func refuse(_ problem: String) -> Never {
    FileHandle.standardError.write(Data("fanfare-sim: \(problem)\n\(usage)\n".utf8))
    exit(2)
}

var numbers: [String: UInt64] = [:]
var extras = Set(WorldOptions.Extra.allCases)
var announces = false
var tells = false
var printsTroubles = false
var arguments = CommandLine.arguments.dropFirst()
while let option = arguments.popFirst() {
    switch option {
    case "--help", "-h":
        print(usage)
        exit(0)
    case "--announce": announces = true
    case "--tell": tells = true
    case "--troubles": printsTroubles = true
    case "--without":
        guard let trouble = arguments.popFirst().flatMap(WorldOptions.Extra.init) else {
            refuse("\(option) needs one of \(WorldOptions.Extra.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        extras.remove(trouble)
    case "--seed", "--seeds", "--steps", "--seconds", "--activities", "--topics", "--audit":
        // The limits keep sums within 64 bits.
        let most: UInt64 = option == "--seed" ? 1 << 62 : 1 << 40
        guard let value = arguments.popFirst().flatMap({ UInt64($0) }), value <= most else {
            refuse("\(option) needs a number up to \(most)")
        }
        if value == 0, option != "--seed" { refuse("\(option) must be at least 1") }
        numbers[option] = value
    default: refuse("unknown option \(option)")
    }
}
if let wide = ["--activities", "--topics"].first(where: { numbers[$0, default: 1] > 10_000 }) {
    refuse("\(wide) is at most 10000")
}

let first = numbers["--seed"] ?? 1
let steps = Int(numbers["--steps"] ?? 2000)
let auditInterval = Int(numbers["--audit"] ?? 1)
let clock = ContinuousClock()
let started = clock.now
let stopsAt = numbers["--seconds"].map { started + .seconds(Int64($0)) }

var worlds = 0
var counts = WorldCounts()
for seed in first..<first + (numbers["--seeds"] ?? 50) {
    if let stopsAt, clock.now >= stopsAt { break }
    if announces { FileHandle.standardError.write(Data("seed \(seed)\n".utf8)) }
    var options = WorldOptions(varying: seed, having: extras)
    if let activities = numbers["--activities"] { options.activitiesMax = Int(activities) }
    if let topics = numbers["--topics"] { options.topics = Int(topics) }
    let world = World(seed: seed, options: options)
    if tells { world.onHappening = { print($0) } }
    world.auditInterval = auditInterval
    var violation = world.run(steps: steps)
    if violation != nil, auditInterval > 1 {
        // The first audit that finds it names the step that is the cause.
        violation =
            World(seed: seed, options: options).run(steps: steps)
            ?? violation.map { "\($0) (--audit \(auditInterval))" }
    }
    worlds += 1
    counts += world.counts
    if let violation {
        print("seed \(seed): \(violation)")
        exit(1)
    }
}
print(
    "nothing found: \(worlds) worlds from seed \(first), \(counts.steps) steps, \(counts.audits) audits, "
        + "\(counts.pushes) pushes, \(counts.alerts) alerts "
        + "(\(counts.joinedAlerts) of several topics), \(counts.rotations) rotations, "
        + "\(counts.starts) starts (\(counts.renewals) renewals), \((clock.now - started).components.seconds) s")
if printsTroubles { print(counts.troubles.table) }
