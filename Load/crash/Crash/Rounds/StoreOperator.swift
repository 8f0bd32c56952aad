import Foundation

/// An operator who looks after a store between two lives of the program, with the command `fanfare`.
struct StoreOperator {
    private let fanfare: String
    private let folder: String

    /// - Parameter folder: folder in which the store is.
    init(folder: String) throws(CrashError) {
        let program =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        fanfare = URL(fileURLWithPath: program).deletingLastPathComponent().path + "/fanfare"
        self.folder = folder
        guard FileManager.default.isExecutableFile(atPath: fanfare) else {
            throw CrashError(
                "\(fanfare): not found; build it with `swift build --product fanfare`, as this program was built")
        }
    }

    /// Counts, checks, prunes and trims.
    ///
    /// - Parameter cards: bounds of the number of cards in the store.
    /// - Returns: what is wrong with the outputs.
    func inspect(expecting cards: ClosedRange<Int>) throws -> [String] {
        var inspection = StoreInspection(expecting: cards)
        for step in StoreInspection.Step.allCases { inspection.take(try run(step.words), of: step) }
        return inspection.complaints
    }

    private func run(_ words: [String]) throws -> StoreInspection.Output {
        let files = ["out", "err"].map { "\(folder)/operator.\($0)" }
        for file in files { try Data().write(to: URL(fileURLWithPath: file)) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: fanfare)
        process.arguments = words + [folder + "/store"]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle(forWritingAtPath: files[0])
        process.standardError = FileHandle(forWritingAtPath: files[1])
        do { try process.run() } catch { throw CrashError("\(fanfare): cannot be started: \(error)") }
        process.waitUntilExit()
        let texts = try files.map { try String(contentsOfFile: $0, encoding: .utf8) }
        return StoreInspection.Output(status: process.terminationStatus, text: texts[0], errors: texts[1])
    }
}
