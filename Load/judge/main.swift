import DeliveryJudge
@preconcurrency import Glibc
import LoadJSON

let usage = """
    delivery-judge: reads what the APNs simulator accepted and what the engine says it published, and says whether every
    phone got the newest state, in order, without repeats and without an alert twice.

    usage: delivery-judge --dump FILE --states FILE [options]

      --dump FILE        the simulator's dump (apns-simulator --dump)
      --states FILE      the engine's final states (fanfare replay --states)
      --lineups N        every activity shows N topics
      --tokens N         so many tokens must be in the dump
      --min-distinct N   the median token must have accepted so many distinct states
      --starts N         a start token may have accepted so many starts (1)

    The verdict is printed as JSON. Exit status: 0 all promises kept; 1 violations, with examples; 2 usage, or a file that
    cannot be read.

    example: delivery-judge --dump /tmp/dump.ndjson --states /tmp/states.ndjson --tokens 50000 --min-distinct 10

    """

func fail(_ text: String) -> Never {
    fputs("delivery-judge: \(text)\n", stderr)
    exit(2)
}

var dumpFile: String?
var statesFile: String?
var expectations = Judge.Expectations()
var arguments = CommandLine.arguments.dropFirst()
while let option = arguments.popFirst() {
    if option == "--help" || option == "-h" {
        print(usage, terminator: "")
        exit(0)
    }
    guard let text = arguments.popFirst() else {
        fail("\(option): unknown, or a value is missing; --help lists options")
    }
    var number: Int {
        guard let value = Int(text), value > 0 else { fail("\(option) \(text): expected a number above 0") }
        return value
    }
    switch option {
    case "--dump": dumpFile = text
    case "--states": statesFile = text
    case "--lineups": expectations.lineups = number
    case "--tokens": expectations.tokens = number
    case "--starts": expectations.startsPerToken = number
    case "--min-distinct": expectations.distinctStates = number
    default: fail("\(option): unknown option; --help lists them")
    }
}
guard let dumpFile, let statesFile else { fail("--dump and --states are needed; --help says more") }

do {
    var topics: [TopicRecord] = []
    var states = try JSONLineReader(path: statesFile)
    while let line = try states.next() {
        do { topics.append(try TopicRecord(line: line)) } catch { fail("\(statesFile):\(states.line): \(error)") }
    }
    var judge = try Judge(topics: topics, expectations: expectations)
    var dump = try JSONLineReader(path: dumpFile)
    while let line = try dump.next() {
        do { try judge.read(line) } catch { fail("\(dumpFile):\(dump.line): \(error)") }
    }
    let verdict = judge.finish()
    print(verdict.json.canonicalText)
    exit(verdict.isGood ? 0 : 1)
} catch {
    fail("\(error)")
}
