/// Every fault of a file, each with its place and what was expected there.
package struct TOMLError: Error, CustomStringConvertible, Sendable {
    /// Faults as `file:line:column: description`, in the order of the file.
    package let lines: [String]

    /// Is `true` if the file is missing or not readable, so that its contents are unknown.
    package private(set) var isUnreadable = false

    package var description: String { lines.joined(separator: "\n") }

    package init(file: String, faults: [Fault]) {
        lines = faults.sorted { $0.place < $1.place }
            .map { "\(file):\($0.place.line):\($0.place.column): \($0.text)" }
    }

    init(file: String, _ text: String) { lines = ["\(file): \(text)"] }

    package init(unreadable file: String) {
        self.init(file: file, "cannot be read: there is no such file, or it is not ours to read")
        isUnreadable = true
    }
}

/// A fault of a file, at its place.
package struct Fault {
    package let place: TOMLPlace
    package let text: String

    package init(_ place: TOMLPlace, _ text: String) {
        self.place = place
        self.text = text
    }
}
