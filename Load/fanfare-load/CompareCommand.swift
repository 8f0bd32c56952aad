import Foundation
import Laboratory
import LaboratoryReport

/// `fanfare-load compare`.
struct CompareCommand {
    private var operands: [String] = []
    private var figures: [String]?
    private var runsPrograms = false
    private var pairs = Ratio.runsMax
    private var folder: String?
    private var slower: Double?
    /// Options of `fanfare-load run` for both programs.
    private var runOptions: [String] = []

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let word = rest.popFirst() {
            switch word {
            case "--":
                runOptions = Array(rest)
                rest = []
            case "--run": runsPrograms = true
            case "--figure", "--pairs", "--keep", "--slower":
                guard let text = rest.popFirst() else { throw UsageError("\(word): the value is missing") }
                try set(word, text)
            case _ where word.hasPrefix("--"): throw UsageError("\(word): no such option")
            default: operands.append(word)
            }
        }
        guard operands.count == (runsPrograms ? 3 : 2) else {
            throw UsageError(
                runsPrograms
                    ? "compare --run: two programs and a scenario are needed"
                    : "compare: two results, or folders of results, are needed")
        }
        guard runsPrograms || (runOptions.isEmpty && folder == nil && slower == nil) else {
            throw UsageError("compare: --keep, --slower and options behind -- belong to --run")
        }
    }

    private mutating func set(_ option: String, _ text: String) throws {
        switch option {
        case "--figure": figures = (figures ?? []) + [text]
        case "--keep": folder = text
        case "--slower":
            guard let percent = Double(text), percent > 0, percent <= 1000 else {
                throw UsageError("--slower \(text): expected per cent above 0, as in 5")
            }
            slower = percent
        default:
            guard let count = Int(text), (Turns.pairsMin...Ratio.runsMax).contains(count) else {
                throw UsageError("--pairs \(text): expected a whole number from \(Turns.pairsMin) to \(Ratio.runsMax)")
            }
            pairs = count
        }
    }

    func compare() throws -> Int32 {
        let comparison: Comparison
        if runsPrograms {
            comparison = try runs()
        } else {
            let (a, b) = (try CompareCommand.set(operands[0]), try CompareCommand.set(operands[1]))
            try a.check(comparable: b)
            comparison = try Comparison(a, b, figures: figures)
        }
        print(comparison.lines.joined(separator: "\n"))
        return comparison.isWorse ? ExitStatus.broken : ExitStatus.passed
    }

    /// The runs of a result, or of all results in a folder.
    private static func set(_ path: String) throws -> RunSet {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else {
            return try RunSet([(path, try LoadResult(file: path))])
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".json") }.sorted()
        guard !names.isEmpty else { throw LaboratoryError("\(path): the folder has no result (*.json)") }
        return try RunSet(try names.map { ($0, try LoadResult(file: path + "/" + $0)) })
    }

    // MARK: Runs in turns

    private func runs() throws -> Comparison {
        let folder = URL(filePath: folder ?? FileManager.default.temporaryDirectory.path + "/fanfare-compare-\(UUID())")
        for name in ["a", "b"] {
            try FileManager.default.createDirectory(at: folder.appending(path: name), withIntermediateDirectories: true)
        }
        defer { if self.folder == nil { try? FileManager.default.removeItem(at: folder) } }
        var waste: [String] = []
        if let slower {
            // The cost of a push is not known before it was measured; of three runs one may be disturbed.
            let costs = try (1...3).compactMap { _ in
                try run(operands[0], folder.appending(path: "first.json"), []).runs.first?.figures["cpu.per.push.p10"]
            }
            guard costs.count == 3, costs.allSatisfy({ 0..<0.1 ~= $0 && $0 > 0 }) else {
                throw LaboratoryError("--slower: the scenario's runs have no cpu.per.push.p10; they need more pushes")
            }
            waste = ["--waste", (costs.sorted()[1] * slower / 100 * 1e9).shortened]
            Terminal.complain("every push of B wastes \(waste[1]) ns of processor time")
        }
        var turns = Turns(figures: figures, pairsMax: pairs)
        var count = (a: 0, b: 0)
        return try turns.run { side in
            switch side {
            case .a:
                count.a += 1
                return try run(operands[0], folder.appending(path: "a/\(CompareCommand.padded(count.a)).json"), [])
            case .b:
                count.b += 1
                return try run(operands[1], folder.appending(path: "b/\(CompareCommand.padded(count.b)).json"), waste)
            }
        } progress: { pair in
            Terminal.complain("pair \(pair), at most \(pairs)")
        }
    }

    private static func padded(_ number: Int) -> String {
        String(repeating: "0", count: max(0, 3 - "\(number)".count)) + "\(number)"
    }

    private func run(_ program: String, _ file: URL, _ more: [String]) throws -> LoadResult {
        // A result of an earlier comparison must not pass for this run's.
        try? FileManager.default.removeItem(at: file)
        let process = Process()
        let arguments = ["run", operands[2], "--json", file.path] + runOptions + more
        guard FileManager.default.isExecutableFile(atPath: program) else {
            throw LaboratoryError("\(program): cannot be run: no program is there")
        }
        process.setProgram(program, arguments)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        do { try process.run() } catch {
            throw LaboratoryError("\(program): cannot be run: \(error.localizedDescription)")
        }
        process.waitUntilExit()
        // A broken threshold is no obstacle to a comparison.
        guard process.terminationReason == .exit, process.terminationStatus < ExitStatus.usage else {
            throw LaboratoryError(
                "\(([program] + arguments).joined(separator: " ")) failed; run it by itself to see why")
        }
        return try LoadResult(file: file.path)
    }
}
