@preconcurrency import Glibc

/// Standard error, where everything goes that is not a result.
enum Terminal {
    /// Writes one line.
    static func complain(_ text: String) { show("fanfare-load: \(text)\n") }

    static func show(_ text: String) { if !text.isEmpty { fputs(text, stderr) } }

    /// Columns of the terminal on standard error; `nil` if standard error is no terminal.
    static var columns: Int? {
        guard isatty(STDERR_FILENO) == 1 else { return nil }
        var size = winsize()
        let isKnown = ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        return isKnown ? Int(size.ws_col) : 80
    }
}
