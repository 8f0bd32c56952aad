import FanfareTestSupport
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
                         environments, hand-overs, claims, schedule
      --troubles       prints how often each kind of trouble met a goal, an end, a start or a hand-over
      --tell           tells everything that happens: for one world
      --announce       names each world on standard error before it runs: for faults that crash

    A world is its seed, its steps and its options: the same ones show the same again.
    Exit status: 0 nothing found; 1 a violation, named on standard output; 2 usage.

      fanfare-sim --seed 17 --seeds 1          one world
      fanfare-sim --seeds 5000                 ten million steps
    """

let program = WorldProgram(
    name: "fanfare-sim", usage: usage,
    options: WorldProgram.Options(
        numbers: ["--seed", "--seeds", "--steps", "--seconds", "--activities", "--topics", "--audit"],
        switches: ["--announce", "--tell", "--troubles"],
        names: ["--without": WorldOptions.Extra.allCases.map(\.rawValue)]))
let arguments = program.read()
if let wide = ["--activities", "--topics"].first(where: { arguments.number($0) ?? 1 > 10_000 }) {
    program.refuse("\(wide) is at most 10000")
}

let extras = Set(WorldOptions.Extra.allCases).subtracting(
    arguments.names("--without").compactMap(WorldOptions.Extra.init))
let first = arguments.seeds.lowerBound
let steps = Int(arguments.number("--steps") ?? 2000)
let auditInterval = Int(arguments.number("--audit") ?? 1)
let clock = ContinuousClock()
let started = clock.now
let stopsAt = arguments.number("--seconds").map { started + .seconds(Int64($0)) }

var worlds = 0
var counts = WorldCounts<WorldOccurrence>()
var troubles = TroublesMet()
for seed in arguments.seeds {
    if let stopsAt, clock.now >= stopsAt { break }
    if arguments.has("--announce") { FileHandle.standardError.write(Data("seed \(seed)\n".utf8)) }
    var options = WorldOptions(varying: seed, having: extras)
    if let activities = arguments.number("--activities") { options.activitiesMax = Int(activities) }
    if let topics = arguments.number("--topics") { options.topics = Int(topics) }
    let world = World(seed: seed, options: options)
    if arguments.has("--tell") { world.onHappening = { print($0) } }
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
    troubles += world.troubles
    if let violation {
        print("seed \(seed): \(violation)")
        exit(1)
    }
}
print(
    "nothing found: \(worlds) worlds from seed \(first), \(counts[.steps]) steps, \(counts[.audits]) audits, "
        + "\(counts[.pushes]) pushes, \(counts[.alerts]) alerts "
        + "(\(counts[.joinedAlerts]) of several topics), \(counts[.rotations]) rotations, "
        + "\(counts[.starts]) starts (\(counts[.renewals]) renewals), \((clock.now - started).components.seconds) s")
if arguments.has("--troubles") { print(troubles.table) }
