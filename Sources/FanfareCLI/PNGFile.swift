import FanfarePresentation
import Foundation

/// A picture as PNG, rendered by librsvg's program: Fanfare draws vectors only.
enum PNGFile {
    private static let program = "rsvg-convert"

    /// - Parameter fonts: files of the fonts that have measured the texts; empty: Inter, as the system has it.
    /// - Throws: `UsageError` if the program is missing or refuses the file.
    static func write(_ svg: String, to path: String, fonts: [String]) throws(UsageError) {
        guard path != "-" else { throw UsageError("--png -: expected a file to write") }
        let drawing = FileManager.default.temporaryDirectory.appendingPathComponent("fanfare-\(UUID()).svg")
        defer { try? FileManager.default.removeItem(at: drawing) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program, "--zoom", "2", "--output", path, drawing.path]
        let configuration = FileManager.default.temporaryDirectory.appendingPathComponent("fanfare-\(UUID()).conf")
        defer { try? FileManager.default.removeItem(at: configuration) }
        let errors = Pipe()
        process.standardError = errors
        do {
            try Data(svg.utf8).write(to: drawing)
            if !fonts.isEmpty {
                try Data(PNGFile.fontConfiguration(of: fonts).utf8).write(to: configuration)
                process.environment = ProcessInfo.processInfo.environment
                    .merging(["FONTCONFIG_FILE": configuration.path]) { $1 }
            }
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

    /// A configuration by which the program knows these fonts only: it cannot read embedded ones.
    private static func fontConfiguration(of files: [String]) -> String {
        let files = files.map { URL(fileURLWithPath: $0).resolvingSymlinksInPath() }
        func lines(_ line: (URL) -> String) -> String { files.map(line).joined(separator: "\n") }
        return """
            <?xml version="1.0"?>
            <!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
            <fontconfig>
            \(lines { "<dir>\($0.deletingLastPathComponent().path.escapedForMarkup)</dir>" })
            <selectfont>
            <rejectfont><glob>*</glob></rejectfont>
            \(lines { "<acceptfont><glob>\($0.path.escapedForMarkup)</glob></acceptfont>" })
            </selectfont>
            </fontconfig>
            """
    }
}
