/// The activities that a completion speaks of.
package enum CompletionScope: Sendable, CaseIterable {
    /// The followers of the topic.
    case followers
    /// The members of the lineups that show the topic.
    case lineups
}
