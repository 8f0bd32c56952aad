/// Every fault of a TOML document, each with its location and what was expected there. Nothing of a document with a fault applies.
public struct TOMLError: Error, Equatable, CustomStringConvertible, Sendable {
    /// Path of the file, or the name that the caller gave the bytes.
    public let name: String
    /// Faults in the order of the document; empty if the file cannot be read.
    public let faults: [Fault]
    /// Reason why the file cannot be read, for people.
    private let reason: String?

    /// Is `true` if the file is missing or not readable, so that its contents are unknown.
    public var isUnreadable: Bool { reason != nil }

    /// One line for people per fault, `name:line:column: text`; for a file that cannot be read, one line with the reason.
    public var description: String { lines.joined(separator: "\n") }

    package var lines: [String] {
        if let reason { return ["\(name): cannot be read: \(reason)"] }
        return faults.map { "\(name):\($0.line):\($0.column): \($0.text)" }
    }

    package init(name: String, faults: [Fault]) {
        self.name = name
        self.faults = faults.sorted { $0.location < $1.location }
        reason = nil
    }

    /// - Parameter reason: why the file cannot be read, for people.
    package init(unreadable path: String, _ reason: String) {
        name = path
        faults = []
        self.reason = reason
    }

    /// A fault at its location: bytes that are not TOML, an unknown key, or a value other than expected.
    public struct Fault: Equatable, Sendable {
        package let location: TOMLLocation
        /// Description for people, with the value that was found and the one that was expected.
        public let text: String

        /// Line of the key or value, from 1.
        public var line: Int { location.line }
        /// Column of the key or value, from 1, in characters of Unicode (scalars).
        public var column: Int { location.column }

        package init(_ location: TOMLLocation, _ text: String) {
            self.location = location
            self.text = text
        }
    }
}
