import Foundation
import PowerLoss

// A store whose writes are recorded, and what is read back after the power was lost at each of them.

private let usage = """
    usage: fanfare-power-loss run [--commits N] [--every N] [--subsets N] [--seed N]
           fanfare-power-loss faults [--commits N] [--seed N]

      run          writes a store with N commits (1000), and cuts the power before every N-th event (1), with all and with nothing
                   of what was not synced; then N times (10000) at a random event, with a random subset of its sectors
                   --seed N chooses the subsets
      faults       stores that each leave out a sync, which the judge must see

    Exit status: 0 nothing found; 1 a violation, named on standard output; 2 usage.
    """

private func refuse(_ problem: String) -> Int32 {
    FileHandle.standardError.write(Data("fanfare-power-loss: \(problem)\n\(usage)\n".utf8))
    return 2
}

/// A folder in memory if there is one: a disk would only be slower.
private func inFolder<Result>(_ body: (String) throws -> Result) throws -> Result {
    let memory = "/dev/shm"
    let parent = FileManager.default.isWritableFile(atPath: memory) ? memory : NSTemporaryDirectory()
    let path = URL(fileURLWithPath: parent).resolvingSymlinksInPath().path + "/fanfare-power-loss-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try body(path)
}

private func run() -> Int32 {
    var arguments = CommandLine.arguments.dropFirst()
    let command = arguments.popFirst()
    var numbers: [String: Int] = [:]
    while let option = arguments.popFirst() {
        guard ["--commits", "--every", "--subsets", "--seed"].contains(option) else {
            return refuse("\(option): no such option")
        }
        guard let text = arguments.popFirst(), let number = Int(text), 1...10_000_000 ~= number else {
            return refuse("\(option) wants a number")
        }
        numbers[option] = number
    }
    guard command == "run" || command == "faults" else { return refuse("run or faults?") }
    do {
        return try inFolder { folder in
            let store = folder + "/store"
            try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
            let recording = try Recording(commits: numbers["--commits"] ?? 1000, folder: store)
            if let difference = recording.difference(from: store) {
                print("the record is not the store: \(difference)")
                return 1
            }
            let seed = UInt64(numbers["--seed"] ?? 1)
            return try command == "run" ? losses(recording, numbers, seed, folder) : faults(recording, seed, folder)
        }
    } catch {
        print("fanfare-power-loss: \(error)")
        return 1
    }
}

private func losses(_ recording: Recording, _ numbers: [String: Int], _ seed: UInt64, _ folder: String) throws -> Int32
{
    print("seed \(seed), \(recording.commits) commits\n\(recording.text)")
    let trials = Trials(
        recording, every: numbers["--every"] ?? 1, subsets: numbers["--subsets"] ?? 10_000, seed: seed, scratch: folder)
    let findings = try trials.run()
    print("\(findings.trials) losses of power, \(findings.violations.count) violations")
    for violation in findings.violations.prefix(50) { print(violation) }
    return findings.violations.isEmpty ? 0 : 1
}

/// Each fault must be seen.
private func faults(_ recording: Recording, _ seed: UInt64, _ folder: String) throws -> Int32 {
    var status: Int32 = 0
    for fault in Fault.allCases {
        // One sync among all matters for a few events only, so no event may be left out; the first one matters for some subsets only.
        let trials = Trials(
            recording, every: fault == .oneSync ? 1 : 7, subsets: fault == .newSync ? 3000 : 200, seed: seed,
            fault: fault, scratch: folder)
        let findings = try trials.run()
        let counts = fault.parts.map { "\(findings.counts[$0] ?? 0) in \($0)" }.joined(separator: ", ")
        print("\(fault.rawValue): violations \(counts); \(findings.violations.first ?? "NOT SEEN")")
        for part in fault.parts where findings.counts[part] ?? 0 == 0 {
            print("\(fault.rawValue): NOT SEEN in \(part)")
            status = 1
        }
    }
    return status
}

exit(run())
