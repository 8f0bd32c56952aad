package import FanfareModel

/// A synthetic match day in the native format: ten football matches at once, with the difficulties of real feeds.
///
///     MatchDay(seed: 7).write { bytes in file.append(bytes) }
///
/// The rates are those of real event recordings: about 17 events per match and minute of play, under one per cent of them visible.
/// Every seed gives two matches with a goal in the same second, a goal that is cancelled after a video review, a second yellow
/// card, and a match with extra time and a shoot-out. Some entries come late (a card minutes after it was shown, one even after the
/// final whistle), some twice. Teams and players are invented.
///
/// Equal seeds give equal bytes.
package struct MatchDay: Sendable {
    /// A Saturday afternoon: 2026-06-13 14:00 UTC.
    package static let kickoffDefault = FeedTime(seconds: 1_781_359_200)

    private let seed: UInt64
    private let kickoff: FeedTime

    package init(seed: UInt64, kickoff: FeedTime = MatchDay.kickoffDefault) {
        self.seed = seed
        self.kickoff = kickoff
    }

    /// Writes the feed in chunks of whole lines, about 64 KiB each, in order of delivery.
    package func write<Failure: Error>(to sink: ([UInt8]) throws(Failure) -> Void) throws(Failure) {
        try entries().write(to: sink)
    }

    private func entries() -> [FeedEntry] {
        var random = SplitMix64(seed: seed)
        var teams = SyntheticNames.teams
        random.shuffle(&teams)
        var stories = MatchScript.Story.oneOfEachDay
        random.shuffle(&stories)
        // In the first half: after every kick-off and well before any half-time.
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
