package import FanfareModel

/// Reason why nothing is being delivered; its reader decides how long to tolerate it.
package struct PoolTrouble: Sendable, Equatable {
    package enum Kind: Sendable { case connection, configuration, service }
    package let kind: Kind
    /// One line: the problem, the place, the remedy.
    package let text: String
    /// Start of the trouble.
    package let since: MonotonicTime
}
