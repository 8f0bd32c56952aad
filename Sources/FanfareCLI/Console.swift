import Glibc

/// The two standard streams, for texts.
enum Console {
    /// Standard error. While something runs that must not wait, lines are offered to it; whoever reads them may be slow, and the disk
    /// that they go to may be full for a while.
    static let errors = OutputFile(descriptor: STDERR_FILENO, name: "standard error", goesOn: true)

    /// Waits until all of it is written.
    ///
    /// - Parameter patience: for a reader who does not read; `nil`: any.
    static func print(_ text: String, patience: Duration? = nil) throws(OutputError) {
        let output = OutputFile(descriptor: STDOUT_FILENO, name: "standard output")
        output.append(Array(text.utf8))
        guard output.flush(patience: patience) else { throw OutputError(output) }
    }

    /// Waits until all of it is written, as far as it can be: nobody could be told.
    static func complain(_ text: String, terminator: String = "\n", patience: Duration? = nil) {
        errors.append(Array((text + terminator).utf8))
        errors.flush(patience: patience)
    }

    /// Words of feeds and files among others, on their way to a terminal or a log: a line stays one line, and nothing in it moves
    /// the cursor.
    static func quoted(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: \.isControl) else { return text }
        return text.unicodeScalars.map { $0.isControl ? $0.escaped(asASCII: true) : String($0) }.joined()
    }

    /// The same of a text whose lines stay what they are.
    static func quoted(lines text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { quoted(String($0)) }.joined(separator: "\n")
    }

    /// Columns of the terminal on standard error; `nil` when it is none.
    static var columns: Int? {
        guard isatty(STDERR_FILENO) == 1 else { return nil }
        var size = winsize()
        let isKnown = ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        return isKnown ? Int(size.ws_col) : 80
    }
}

/// What was to be said could not be written, or not all of it.
struct OutputError: Error, CustomStringConvertible {
    let description: String
    /// `fanfare … | head` has what it wanted.
    let hasLostItsReader: Bool

    init(_ file: OutputFile) {
        description = file.failure ?? "\(file.name): nobody reads it"
        hasLostItsReader = file.hasLostItsReader
    }
}

extension Unicode.Scalar {
    /// C0, C1, and what changes the direction of text.
    fileprivate var isControl: Bool {
        properties.generalCategory == .control || (0x202A...0x202E).contains(value) || (0x2066...0x2069).contains(value)
    }
}
