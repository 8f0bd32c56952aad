import Foundation
import Laboratory
import LaboratoryReport
import Testing

/// An interpreter with hdrhistogram of PyPI, which Debian has not.
private let interpreter: URL = {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardizedFileURL
    return root.appending(path: ".build-python/bin/python")
}()

/// Comparison with an implementation that shares no code with ours.
@Suite(
    "HdrHistogram's library",
    .enabled(if: FileManager.default.isExecutableFile(atPath: interpreter.path), "scripts/setup python"))
struct HDRLibraryTests {
    private struct Order: Encodable {
        struct Entry: Encodable {
            let values: [[Int64]]
            let text: String
            let max: Int64
            /// Share, rank, microseconds.
            let quantiles: [[Double]]
        }

        let histograms: [Entry]
        let log: String
        let tags: [Line]
    }

    private struct Line: Encodable {
        let tag: String
        let count: Int64
        let start: Double

        func encode(to encoder: any Encoder) throws {
            var container = encoder.unkeyedContainer()
            try container.encode(tag)
            try container.encode(count)
            try container.encode(start)
        }
    }

    private func entry(seed: UInt64) -> Order.Entry {
        var draw = Draw(seed: seed)
        var histogram = LatencyHistogram()
        let values = (0..<Int.random(in: 1...400, using: &draw)).map { _ in
            [Int64(exp(Double.random(in: 0...22, using: &draw))), Int64.random(in: 1...2000, using: &draw)]
        }
        for value in values { histogram.record(value[0], times: Int(value[1])) }
        let quantiles = [0.5, 0.9, 0.99, 0.999, 0.9999, 1].map { share in
            let rank = max(1, (share * Double(histogram.count) - 1e-6).rounded(.up))
            return [share, rank, Double(histogram.quantile(share) ?? -1)]
        }
        return Order.Entry(values: values, text: histogram.hdrEncoded(), max: histogram.max, quantiles: quantiles)
    }

    @Test func countsPercentilesAndLogsAreTheSame() throws {
        let run = exampleRun(seconds: 3)
        let log = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).hlog")
        defer { try? FileManager.default.removeItem(at: log) }
        let text = HistogramLog.text(of: run, startedAt: "2026-06-13T14:00:00Z", title: "goal-burst")
        try Data(text.utf8).write(to: log)
        let started = 1_781_359_200_000.0
        var lines: [Line] = []
        for (second, interval) in run.intervals.enumerated() {
            let start = started + Double(second) * 1000
            lines.append(Line(tag: "all", count: interval.latency.count, start: start))
            lines.append(Line(tag: "goal", count: interval.goalLatency.count, start: start))
            for latency in interval.latencies ?? [] {
                lines.append(
                    Line(tag: "\(latency.series)/\(latency.stage)", count: latency.histogram.count, start: start))
            }
        }
        for latency in run.latencies {
            lines.append(
                Line(tag: "whole/\(latency.series)/\(latency.stage)", count: latency.histogram.count, start: started))
        }
        let order = Order(histograms: (1...20).map { entry(seed: $0) }, log: log.path, tags: lines)

        let process = Process()
        process.executableURL = interpreter
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "hdr_check.py")
        process.arguments = ["-B", script.path]
        let (input, output, errors) = (Pipe(), Pipe(), Pipe())
        (process.standardInput, process.standardOutput, process.standardError) = (input, output, errors)
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: JSONEncoder().encode(order))
        try input.fileHandleForWriting.close()
        let said = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        let complaint = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(complaint)")
        #expect(Int(said.trimmingCharacters(in: .whitespacesAndNewlines)) == 20 * 6 + lines.count)
    }
}
