/// Why a replay could not begin: one line for people.
package struct ReplayError: Error, CustomStringConvertible, Sendable {
    package let description: String
}
