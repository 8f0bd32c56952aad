import Glibc

/// The two standard streams, for texts. Nothing more can be said when they cannot be written.
enum Console {
    static func print(_ text: String) { write(text, to: STDOUT_FILENO) }

    static func complain(_ text: String, terminator: String = "\n") { write(text + terminator, to: STDERR_FILENO) }

    private static func write(_ text: String, to descriptor: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { return }
        }
    }

    /// Columns of the terminal on standard error; `nil` when it is none.
    static var columns: Int? {
        guard isatty(STDERR_FILENO) == 1 else { return nil }
        var size = winsize()
        let isKnown = ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        return isKnown ? Int(size.ws_col) : 80
    }
}
