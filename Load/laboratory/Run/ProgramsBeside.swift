/// The programs beside a run, and what their ends tell of it.
struct ProgramsBeside {
    private let programs: Companions
    /// Programs that had ended before the run.
    private(set) var lost: [String] = []
    /// Sentences that say what a program counted otherwise than the engine did.
    private(set) var contradictions: [String] = []

    init(_ programs: Companions) { self.programs = programs }

    /// Processor seconds so far, by name.
    var cpuSeconds: [String: Double] {
        Dictionary(programs.all.map { ($0.name, $0.cpuSeconds) }, uniquingKeysWith: +)
    }

    /// Ends the programs.
    ///
    /// - Parameter counted: pushes that the engine has counted as accepted; `nil` if it was not measured.
    mutating func finish(accepted counted: Int?) {
        lost = programs.all.filter { !$0.isRunning }.map(\.name)
        for program in programs.all {
            let accepted = program.stop()["accepted"].flatMap { program.name == Companion.simulator ? Int($0) : nil }
            // Since its start, as the engine has counted. Answers that never came back make the simulator's count the greater one.
            guard let accepted, let counted, counted > accepted else { continue }
            contradictions.append(
                "the engine counted \(counted) accepted pushes, and \(program.name) accepted \(accepted)")
        }
    }
}
