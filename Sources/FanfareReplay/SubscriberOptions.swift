package import Fanfare

/// Synthetic subscribers, and those of a source.
package struct SubscriberOptions: Sendable {
    /// Number of synthetic subscribers; subscriber *i* follows topic *i* mod T of the feed's T topics.
    package var count = 0
    /// Number of topics in each synthetic subscriber's lineup; `nil` if each follows one topic.
    package var lineups: ClosedRange<Int>?
    /// The first topic of each lineup is its favourite.
    package var hasFavourites = false
    /// Seed of the synthetic tokens and lineups.
    package var seed: UInt64 = 1
    /// Further subscribers, in addition to the synthetic ones.
    package var source: (any SubscriberSource)?
}
