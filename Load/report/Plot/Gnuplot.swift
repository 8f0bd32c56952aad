package import Foundation

/// gnuplot, which draws every plot.
package struct Gnuplot {
    /// Fault of a drawing, with the remedy.
    package struct DrawingError: Error, Hashable, CustomStringConvertible {
        package let description: String
    }

    private let program: URL

    /// - Parameter path: folders in which the program may be, with colons between.
    /// - Throws: `DrawingError` if none has it.
    package init(path: String = ProcessInfo.processInfo.environment["PATH"] ?? "") throws(DrawingError) {
        let places = path.split(separator: ":").map { URL(filePath: String($0)).appending(path: "gnuplot") }
        guard let found = places.first(where: { FileManager.default.isExecutableFile(atPath: $0.path) }) else {
            throw DrawingError(description: "gnuplot is missing, which draws the plots: apt install gnuplot-nox")
        }
        program = found
    }

    /// Draws plots as SVG elements that take colours and letters from the page around them, one for each size.
    package func svg(_ plots: [Plot], _ sizes: [PlotSize]) throws -> [[PlotSVG]] {
        var scripts: [String] = []
        for plot in plots {
            for size in sizes {
                let terminal = "svg size \(size.width),\(size.height) dynamic noenhanced font 'sans-serif,13'"
                scripts.append(PlotScript(plot, size, PlotScript.marks).text(terminal: terminal))
            }
        }
        let drawn = try draw(scripts).map { String(decoding: $0, as: UTF8.self) }
        return plots.enumerated().map { index, plot in
            sizes.enumerated().map { PlotSVG(drawn[index * sizes.count + $0.offset], plot, $0.element) }
        }
    }

    /// Draws a plot as PNG, in twice the size.
    package func png(_ plot: Plot) throws -> Data {
        let size = PlotSize.wide
        let terminal =
            "pngcairo size \(2 * size.width),\(2 * size.height) fontscale 2 linewidth 2 noenhanced font 'sans-serif,11'"
        return try draw([PlotScript(plot, size, PlotScript.colours).text(terminal: terminal)])[0]
    }

    private func draw(_ scripts: [String]) throws -> [Data] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fanfare-plots-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        // Files, because a pipe would fill while the other one is being written.
        let whole = scripts.enumerated().map { "set output '\($0.offset)'\n\($0.element)\nunset output\n" }.joined()
        try Data(whole.utf8).write(to: folder.appending(path: "script"))
        let log = folder.appending(path: "log")
        try Data().write(to: log)
        let process = Process()
        process.executableURL = program
        process.arguments = ["script"]
        process.currentDirectoryURL = folder
        process.environment = ["LC_ALL": "C.UTF-8", "HOME": folder.path]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = try FileHandle(forWritingTo: log)
        try process.run()
        process.waitUntilExit()
        let complaint = String(decoding: (try? Data(contentsOf: log)) ?? Data(), as: UTF8.self)
        guard process.terminationStatus == 0 else {
            throw DrawingError(description: "gnuplot failed: \(complaint.prefix(500))")
        }
        return try scripts.indices.map { index in
            guard let data = try? Data(contentsOf: folder.appending(path: "\(index)")), !data.isEmpty else {
                throw DrawingError(description: "gnuplot has drawn nothing: \(complaint.prefix(500))")
            }
            return data
        }
    }
}
