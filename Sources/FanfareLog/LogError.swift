/// Fault of a log: what failed, where, and what to do.
package struct LogError: Error, Equatable, CustomStringConvertible {
    package enum Cause: Sendable, Equatable {
        /// Another process writes to the folder.
        case inUse
        /// A newer release has written the folder.
        case newerRelease
        case otherRules
        case damaged
        /// A store refuses an entry or a row: a retry does not help.
        case entry
        /// The system refuses a call: the disk is full, read-only, broken, or not there.
        case system
    }

    package let cause: Cause
    package let description: String

    package init(_ description: String, _ cause: Cause = .system) {
        self.cause = cause
        self.description = description
    }

    /// Is `true` if the entries themselves are the fault, so that a retry does not help.
    package var isFinal: Bool { cause == .entry }
}
