import Glibc

/// The two standard streams, for texts.
enum Console {
    /// Standard error. Lines are offered to it while work is running that must not block: its reader may be slow,
    /// and the disk behind it may be full for a while.
    static let errors = OutputFile(descriptor: STDERR_FILENO, name: "standard error", goesOn: true)

    /// Writes the text and blocks until all of it is written.
    ///
    /// - Parameter patience: longest time without progress of the reader; `nil` means no limit.
    static func print(_ text: String, patience: Duration? = nil) throws(OutputError) {
        let output = OutputFile(descriptor: STDOUT_FILENO, name: "standard output")
        output.append(Array(text.utf8))
        guard output.flush(patience: patience) else { throw OutputError(output) }
    }

    /// Writes the text to standard error and blocks until all of it is written. Ignores failures: there is no other place to report them.
    static func complain(_ text: String, terminator: String = "\n", patience: Duration? = nil) {
        errors.append(Array((text + terminator).utf8))
        errors.flush(patience: patience)
    }

    /// Returns the text with control characters escaped, for a terminal or a log. A line stays one line, and
    /// text from feeds or files cannot move the cursor.
    static func quoted(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: \.isControl) else { return text }
        return text.unicodeScalars.map { $0.isControl ? $0.escaped(asASCII: true) : String($0) }.joined()
    }

    /// Returns the text with the control characters inside its lines escaped; the line breaks stay.
    static func quoted(lines text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { quoted(String($0)) }.joined(separator: "\n")
    }

    /// Columns of the terminal on standard error; `nil` if standard error is not a terminal.
    static var columns: Int? {
        guard isatty(STDERR_FILENO) == 1 else { return nil }
        var size = winsize()
        let isKnown = unsafe ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        return isKnown ? Int(size.ws_col) : 80
    }
}

extension Unicode.Scalar {
    /// Is `true` for C0 and C1 controls and for characters that change the direction of text.
    fileprivate var isControl: Bool {
        properties.generalCategory == .control || (0x202A...0x202E).contains(value) || (0x2066...0x2069).contains(value)
    }
}
