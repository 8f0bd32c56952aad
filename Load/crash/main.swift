import CrashTest
import FanfareLoop
import Foundation

// A program with a store and APNs, killed again and again, and judged by what phones were sent.

private let usage = """
    usage: fanfare-crash rounds [--rounds N] [--seed N] [--seconds T] [--acknowledgements N] [--least N]
                                 [--fault NAME] [--keep FOLDER]
           fanfare-crash sweep [--followers N] [--fault NAME] [--keep FOLDER]
           fanfare-crash faults [--rounds N] [--seed N]

      rounds            kills a program N times (30) while it is loaded with requests; some lives lack an app or meet a full disk,
                        and an operator inspects the store with `fanfare`, which is beside this program; prints the counts and
                        what is wrong
      --seconds T       begins no further round after so many seconds
      --acknowledgements N  acknowledgements in each round before the kill (1000)
      --least N         fails if fewer kills fell inside a commit, a sweep, a start, or a loading
      sweep             kills it at ten moments of a goal's sweep to N followers (1000000)
      faults            rounds of programs that each commit a fault on purpose, which the judge must see
      --fault NAME      \(Fault.allCases.map(\.rawValue).joined(separator: ", "))
      --keep FOLDER     folder for the store, the dumps, the program's reports and the requests with their answers, which stays;
                        otherwise a temporary one, which stays after a violation

    Exit status: 0 nothing found; 1 a violation, named on standard output; 2 usage.
    """

/// A function, not top-level code: callbacks from libuv must not belong to the main actor.
private func run() -> Int32 {
    var arguments = CommandLine.arguments.dropFirst()
    let command = arguments.popFirst()
    if command == "program" {
        guard let options = Program.Options(arguments) else { return refuse("program: only the harness starts it") }
        return Program.run(options)
    }
    var numbers: [String: Int] = [:]
    var fault: Fault?
    var folder: String?
    while let option = arguments.popFirst() {
        guard let text = arguments.popFirst() else { return refuse("\(option) wants a value") }
        switch option {
        case "--rounds", "--seed", "--seconds", "--acknowledgements", "--least", "--followers":
            guard let number = Int(text), 0...100_000_000 ~= number else {
                return refuse("\(option) \(text): no such number")
            }
            numbers[option] = number
        case "--fault":
            guard let known = Fault(rawValue: text) else { return refuse("--fault \(text): no such fault") }
            fault = known
        case "--keep": folder = text
        default: return refuse("\(option): no such option")
        }
    }
    let run = Run(numbers: numbers, fault: fault, folder: folder, isPlanting: command == "faults")
    do {
        switch command {
        case "rounds": return try run.rounds() ? 0 : 1
        case "sweep": return try run.sweep() ? 0 : 1
        case "faults": return try run.faults() ? 0 : 1
        default: return refuse("rounds, sweep or faults?")
        }
    } catch {
        print("fanfare-crash: \(error)")
        return 1
    }
}

private func refuse(_ problem: String) -> Int32 {
    FileHandle.standardError.write(Data("fanfare-crash: \(problem)\n\(usage)\n".utf8))
    return 2
}

FileLimit.raise()
exit(run())
