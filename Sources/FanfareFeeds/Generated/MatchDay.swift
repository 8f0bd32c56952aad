package import FanfareModel

/// A made-up match day in the native format: ten football matches at once, with what makes real feeds hard.
///
///     MatchDay(seed: 7).write { bytes in file.append(bytes) }
///
/// Rates are those of real event recordings: about 17 events per match and minute of play, under one per cent of them
/// visible. Whatever the seed, two matches see a goal in the same second, one goal is cancelled after a video review, one
/// player is sent off with a second yellow card, and one match goes to extra time and a shoot-out. Some entries come late
/// (a card minutes after it was shown, one even after the final whistle), some twice. Teams and players are invented.
///
/// The same seed gives the same bytes.
package struct MatchDay: Sendable {
    /// A Saturday afternoon: 2026-06-13 14:00 UTC.
    package static let kickoffDefault = FeedTime(seconds: 1_781_359_200)

    private let seed: UInt64
    private let kickoff: FeedTime

    package init(seed: UInt64, kickoff: FeedTime = MatchDay.kickoffDefault) {
        self.seed = seed
        self.kickoff = kickoff
    }

    /// Hands out the feed in chunks of whole lines, about 64 KiB each, in the order in which it is delivered.
    package func write<Failure: Error>(to sink: ([UInt8]) throws(Failure) -> Void) throws(Failure) {
        try entries().write(to: sink)
    }

    private func entries() -> [FeedEntry] {
        var random = SplitMix64(seed: seed)
        var teams = Invented.teams
        random.shuffle(&teams)
        var stories = MatchScript.Story.oneOfEachDay
        random.shuffle(&stories)
        // In the first half, after every kick-off and well before any half-time.
        let sharedSecond = kickoff + .seconds(random.number(in: 18 * 60...40 * 60))

        var all: [FeedEntry] = []
        for (match, story) in stories.enumerated() {
            var script = MatchScript(
                topic: "match/\(1001 + match)", home: teams[2 * match], away: teams[2 * match + 1],
                random: SplitMix64(seed: random.next()))
            script.play(story, kickoff: kickoff, sharedSecond: sharedSecond)
            all += script.entries
        }
        return all
    }
}
