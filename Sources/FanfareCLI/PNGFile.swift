import Foundation

/// A picture as PNG, rendered by librsvg's program: Fanfare draws vectors only.
enum PNGFile {
    private static let program = "rsvg-convert"

    /// - Throws: `UsageError` if the program is missing or refuses the file.
    static func write(_ svg: String, to path: String) throws(UsageError) {
        guard path != "-" else { throw UsageError("--png -: expected a file to write") }
        let drawing = FileManager.default.temporaryDirectory.appendingPathComponent("fanfare-\(UUID()).svg")
        defer { try? FileManager.default.removeItem(at: drawing) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program, "--zoom", "2", "--output", path, drawing.path]
        let errors = Pipe()
        process.standardError = errors
        do {
            try Data(svg.utf8).write(to: drawing)
            try process.run()
        } catch {
            throw UsageError("--png \(path): \(error.localizedDescription)")
        }
        let words = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        switch process.terminationStatus {
        case 0: return
        case 127:
            throw UsageError(
                "--png \(path): \(program) is missing; install Debian's package librsvg2-bin, or write --svg FILE")
        default:
            let text = String(decoding: words, as: UTF8.self).split(separator: "\n").first.map(String.init)
            throw UsageError("--png \(path): \(program) failed: \(text ?? "status \(process.terminationStatus)")")
        }
    }
}
