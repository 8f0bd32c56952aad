/// Makes the text of a run's live view: one block that is redrawn on a terminal, a plain line every few seconds elsewhere. It knows no
/// stream and no clock.
package struct LiveView {
    /// Seconds between two plain lines.
    static let lineSeconds = 5.0

    /// Columns of the terminal; `nil` if there is none.
    private let columns: Int?
    private let name: String
    private var drawnLines = 0
    private var lastLine = -LiveView.lineSeconds

    package init(name: String, columns: Int?) {
        self.name = name
        self.columns = columns
    }

    /// - Parameter clock: seconds by any clock.
    /// - Returns: text to write; empty if nothing is to be shown yet.
    package mutating func show(_ progress: LoadProgress, clock: Double) -> String {
        guard let columns else {
            guard clock - lastLine >= LiveView.lineSeconds else { return "" }
            lastLine = clock
            return lines(progress).joined(separator: "; ") + "\n"
        }
        let cleared = clear()
        // One column stays free: a full line would wrap and could not be overwritten.
        let lines = lines(progress).map { String($0.prefix(max(1, columns - 1))) }
        drawnLines = lines.count
        return cleared + lines.map { $0 + "\n" }.joined()
    }

    /// Writes a line above the view.
    package mutating func interrupt(with line: String) -> String { clear() + line + "\n" }

    /// Erases the view.
    package mutating func clear() -> String {
        guard drawnLines > 0 else { return "" }
        defer { drawnLines = 0 }
        // CUU moves to the view's first line and ED erases the rest of the screen (ECMA-48).
        return "\u{1B}[\(drawnLines)A\r\u{1B}[J"
    }

    private func lines(_ progress: LoadProgress) -> [String] {
        let phase =
            switch progress.seconds {
            case nil: "preparing"
            case let seconds? where seconds < 0: "warm-up, \((-seconds).rounded().shortened) s left"
            case let seconds? where seconds > progress.duration: "waiting for the last pushes"
            case let seconds?: "\(seconds.rounded().shortened) of \(progress.duration.shortened) s"
            }
        var lines = ["\(name): \(phase)"]
        let memory = progress.residentBytes > 0 ? ", memory \(Int(progress.residentBytes / 1_000_000).spaced) MB" : ""
        lines.append(
            "\(progress.accepted.spaced) pushes accepted, \(Int(progress.acceptedPerSecond).spaced)/s, \(progress.owed.spaced) to go, "
                + "oldest \(progress.oldestUndelivered.shortened) s\(memory)")
        if progress.latency.count > 0 {
            let shares = [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)]
            let percentiles = shares.map { "\($0.0) \((progress.latency.quantile($0.1) ?? 0).asTime)" }
            lines.append(
                "last second: " + (percentiles + ["max \(progress.latency.max.asTime)"]).joined(separator: ", "))
        }
        let troubles = progress.answers.filter { $0.name != "accepted" }
        if !troubles.isEmpty { lines.append(troubles.map { "\($0.name) \($0.count.spaced)" }.joined(separator: ", ")) }
        return lines
    }
}
