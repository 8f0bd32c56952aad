import Foundation
import LaboratoryReport
import Testing

private func isInstalled(_ program: String) -> Bool {
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
        FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
    }
}

/// A page in a real browser, on a phone and in a window, in light and dark, and printed.
@Suite(
    "Report in a browser",
    .enabled(
        if: isInstalled("chromium") && isInstalled("chromedriver") && isInstalled("gnuplot"),
        "scripts/setup browser; gnuplot-nox"))
struct ReportBrowserTests {
    @Test func thePageReadsWellEverywhere() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fanfare-report-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "report.html")
        try Data(ReportPage(exampleResult(runs: 2)).html().utf8).write(to: file)
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardizedFileURL
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/python3")
        // Each table is opened: its letters are checked as well.
        let look = """
            document.querySelectorAll("details").forEach((part) => { part.open = true; });
            const plots = [...document.querySelectorAll("svg.plot")].map((plot) => plot.getBoundingClientRect());
            const seen = plots.filter((box) => box.width > 300 && box.height > 100).length;
            const letters = [...document.querySelectorAll("svg.plot text")].map((text) => text.getBoundingClientRect().height);
            return `plots ${seen}, letters ${Math.min(...letters.filter((height) => height > 0)) >= 9}`;
            """
        process.arguments = [
            root.appending(path: "scripts/browser-check").path, "--size", "360x780", "--size", "1000x800", "--print",
            "--shots",
            folder.path, "--do", look, file.path,
        ]
        let output = Pipe()
        (process.standardInput, process.standardOutput, process.standardError) = (FileHandle.nullDevice, output, output)
        try process.run()
        let said = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(said)")
        #expect(said.matches(of: /plots 7, letters true/).count == 4, "\(said)")
        let printed = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".pdf") }
        #expect(printed.count == 1)
    }
}
