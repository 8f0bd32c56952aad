/// Costs that a crash may have, as `docs/store.md` says. Each number is a promise: a better store makes it smaller, and a run fails that exceeds it.
package enum CrashCosts {
    /// Silent pushes of a state that a card has already, for each restart and card: the store does not know who has which version.
    package static let superfluousPerRestart = 1
    /// A card that was being ended gets its end again, for each restart.
    package static let endsPerRestart = 1

    /// Greatest number of followers whom a crash costs the alert of a topic: in each shard one and a half blocks, twice as many if the disk was late,
    /// and what was in flight.
    package static func alertsLost(followers: Int, shards: Int, flying: Int) -> Int {
        let block = min(max(1024, followers / shards / 64), 65_536)
        return min(followers, shards * 3 * block + flying)
    }
}
