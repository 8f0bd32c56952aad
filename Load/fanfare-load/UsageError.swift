/// A fault in the command line: what was given, and what would be right.
struct UsageError: Error {
    let description: String
    init(_ description: String) { self.description = description }
}
