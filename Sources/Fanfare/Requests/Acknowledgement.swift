package import FanfareLog

/// Answer to a caller that waits for its entry: the entry's position, or `nil` if the engine stops before the entry is durable.
package typealias EntryAcknowledgement = @Sendable (LogPosition?) -> Void

/// Answer to a caller that waits for an entry about a person: `true` if the store keeps it, `nil` if the engine stops before that.
package typealias PersonAcknowledgement = @Sendable (Bool?) -> Void
