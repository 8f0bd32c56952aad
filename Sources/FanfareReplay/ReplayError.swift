/// Reason why a replay could not begin, in one line for people.
package struct ReplayError: Error, CustomStringConvertible, Sendable {
    package let description: String
    package init(description: String) { self.description = description }
}
