import Foundation
package import Laboratory

/// The latencies of a run as a HistogramLog of format 1.3, for HdrHistogram's own tools. Values are microseconds, the column
/// `Interval_Max` is in milliseconds.
///
/// A line with the tag `all` or `goal` is one second of accepted pushes, and one with `SERIES/STAGE` one second of that stage; a line with the
/// tag `whole/SERIES/STAGE` is a distribution of the whole run.
package enum HistogramLog {
    /// - Parameter startedAt: RFC 3339; the log has no start time if the text is none.
    package static func text(of run: LoadRun, startedAt: String, title: String) -> String {
        var lines = ["#[\(oneLine(title)), values in microseconds]", "#[Histogram log format version 1.3]"]
        if let date = Date(startedAt: startedAt) {
            let seconds = fixed(date.timeIntervalSince1970)
            lines.append("#[StartTime: \(seconds) (seconds since epoch), \(oneLine(startedAt))]")
            lines.append("#[BaseTime: \(seconds) (seconds since epoch)]")
        }
        lines.append(#""StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram""#)
        var start = 0.0
        for interval in run.intervals {
            let length = max(0, interval.second - start)
            for (tag, histogram) in [("all", interval.latency), ("goal", interval.goalLatency)] {
                lines.append(line(tag: tag, start: start, length: length, histogram))
            }
            for latency in interval.latencies ?? [] {
                lines.append(
                    line(tag: "\(latency.series)/\(latency.stage)", start: start, length: length, latency.histogram))
            }
            start = interval.second
        }
        for latency in run.latencies {
            let tag = "whole/\(latency.series)/\(latency.stage)"
            lines.append(line(tag: tag, start: 0, length: run.seconds, latency.histogram))
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func line(tag: String, start: Double, length: Double, _ histogram: LatencyHistogram) -> String {
        // A tag ends at the first comma and has no spaces.
        let tag = String(tag.map { $0 == "," || $0.isWhitespace ? "-" : $0 })
        let greatest = fixed(Double(histogram.max) / 1000)
        return "Tag=\(tag),\(fixed(start)),\(fixed(length)),\(greatest),\(histogram.hdrEncoded())"
    }

    private static func fixed(_ value: Double) -> String { String(format: "%.3f", value) }

    private static func oneLine(_ text: String) -> String { String(text.map { $0.isNewline || $0 == "]" ? " " : $0 }) }
}
