import FanfareFanOut
import FanfareReplay

/// Shows the progress of a replay on standard error: a bar that is redrawn on a terminal, a plain line every few seconds elsewhere. Reports
/// go between. No call blocks on the reader of standard error.
final class ProgressConsole {
    private var display = ProgressDisplay(columns: Console.columns)

    /// Shows the progress unless earlier output still waits: a slow reader gets the newest progress and skips the rest.
    func show(_ progress: ReplayProgress) { if Console.errors.isIdle { offer(display.show(progress)) } }
    func show(_ preview: LineupPreview.ShownCard) { offer(display.show(preview)) }
    func report(_ line: String) { offer(display.interrupt(with: Console.quoted(line))) }

    private func offer(_ text: String) { if !text.isEmpty { Console.errors.offer(Array(text.utf8)) } }

    /// - Parameter patience: longest time without progress of the reader; `nil` means no limit.
    func finish(patience: Duration?) {
        Console.complain(display.clear(), terminator: "", patience: patience)
        let refused = Console.errors.refused
        if refused > 0 {
            Console.complain("\(refused.grouped) lines are missing here: nobody read them", patience: patience)
        }
    }
}

/// Makes the text that shows progress. Knows no stream and no clock: time comes with the progress.
struct ProgressDisplay {
    /// Seconds between two plain lines.
    static let lineSeconds = 5.0
    private static let barWidth = 24

    /// Columns of the terminal; `nil` if standard error is not a terminal.
    private let columns: Int?
    private var bar = ""
    /// Lines of the previewed phone's card, above the bar.
    private var card: [String] = []
    private var lastLine = 0.0
    private var previous = ReplayProgress()

    init(columns: Int?) { self.columns = columns }

    mutating func show(_ progress: ReplayProgress) -> String {
        if columns == nil, progress.seconds - lastLine < Self.lineSeconds { return "" }
        let seconds = progress.seconds - previous.seconds
        let pushes = progress.counts.pushes.sent - previous.counts.pushes.sent
        let text = Self.text(progress, pushesPerSecond: seconds > 0 ? Double(pushes) / seconds : 0)
        previous = progress
        lastLine = progress.seconds
        guard columns != nil else { return text + "\n" }
        let drawn = progress.fraction.map { Self.bar($0) + " " } ?? ""
        let cleared = clear()
        bar = drawn + text
        return cleared + drawing
    }

    /// On a terminal the card replaces the one before; elsewhere it is appended.
    mutating func show(_ preview: LineupPreview.ShownCard) -> String {
        guard columns != nil else { return preview.lines.joined(separator: "\n") + "\n" }
        let cleared = clear()
        card = preview.lines
        return cleared + drawing
    }

    /// Writes a line above card and bar.
    func interrupt(with line: String) -> String { clear() + line + "\n" + drawing }

    /// Erases card and bar.
    func clear() -> String {
        guard !drawing.isEmpty else { return "" }
        // CUU moves to the card's first line, CR to its first column, and ED erases the rest of the screen (ECMA-48).
        return (card.isEmpty ? "" : "\u{1B}[\(card.count)A") + "\r\u{1B}[J"
    }

    private var drawing: String {
        guard let columns else { return "" }
        // One column stays free: a full line would wrap and could not be overwritten.
        return (card + [bar]).map { String($0.prefix(columns - 1)) }.joined(separator: "\n")
    }

    private static func bar(_ fraction: Double) -> String {
        let filled = Int((min(max(fraction, 0), 1) * Double(barWidth)).rounded(.down))
        return "[" + String(repeating: "=", count: filled) + String(repeating: " ", count: barWidth - filled) + "]"
    }

    private static func text(_ progress: ReplayProgress, pushesPerSecond: Double) -> String {
        var parts: [String] = []
        if let fraction = progress.fraction { parts.append("\(Int(fraction * 100))%") }
        if let now = progress.now { parts.append(String("\(now)".dropLast(5)) + "Z") }
        parts.append("\(progress.events.grouped) events")
        parts.append("\(progress.updates.grouped) updates")
        if progress.counts.activities > 0 {
            parts.append("\(progress.counts.pushes.sent.grouped) pushes")
            parts.append("\(Int(pushesPerSecond).grouped)/s")
            if progress.counts.owed > 0 { parts.append("\(progress.counts.owed.grouped) to go") }
            let limit = progress.counts.transport.limit
            if limit != .nothing { parts.append("waits for \(limit.rawValue)") }
        }
        return parts.joined(separator: "  ")
    }
}
