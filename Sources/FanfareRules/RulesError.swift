/// What is wrong with a rules file: every fault in it, each with its place and what was expected there.
package struct RulesError: Error, CustomStringConvertible, Sendable {
    /// `file:line:column: what is wrong`, in the order of the file.
    package let lines: [String]

    /// There is no such file, or it is not ours to read: nothing is known of what it says.
    package private(set) var isUnreadable = false

    package var description: String { lines.joined(separator: "\n") }

    init(file: String, faults: [Fault]) {
        lines = faults.sorted { $0.place < $1.place }
            .map { "\(file):\($0.place.line):\($0.place.column): \($0.text)" }
    }

    init(file: String, _ text: String) { lines = ["\(file): \(text)"] }

    init(unreadable file: String) {
        self.init(file: file, "cannot be read: there is no such file, or it is not ours to read")
        isUnreadable = true
    }
}

struct Fault {
    let place: Place
    let text: String

    init(_ place: Place, _ text: String) {
        self.place = place
        self.text = text
    }
}
