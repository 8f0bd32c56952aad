import Foundation

/// Reason why a benchmark's figures do not count.
struct BenchmarkFault: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// Named figures in the order in which they were measured.
struct Figures: Sendable {
    private(set) var all: [(name: String, value: Double)] = []

    /// Notes a figure, which is printed to four digits: none repeats to more. Whole numbers are exact.
    mutating func note(_ name: String, _ value: Double) { all.append((name, value)) }
    mutating func note(_ name: String, _ value: Int) { all.append((name, Double(value))) }

    subscript(name: String) -> Double? { all.first { $0.name == name }?.value }

    var json: String {
        let members = all.map { name, value in
            let isWhole = value == value.rounded() && abs(value) < 1e15
            return "\"\(name)\": " + (isWhole ? "\(Int(value))" : String(format: "%.4g", value))
        }
        return "{" + members.joined(separator: ", ") + "}"
    }

    /// Runs this program with other options, in a process of its own, and returns what it prints.
    static func ofProcess(_ options: [String]) throws -> Figures {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = options
        process.standardOutput = output
        try process.run()
        let printed = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw BenchmarkFault("\(options.joined(separator: " ")) ended with status \(process.terminationStatus)")
        }
        var figures = Figures()
        for (name, value) in try JSONDecoder().decode([String: Double].self, from: printed) {
            figures.note(name, value)
        }
        return figures
    }
}
