import FanfareModel

/// Synthetic feeds in the native format, for kinds without a recording. Equal seeds give equal bytes.
///
///     GeneratedFeed.ride.write(seed: 7) { bytes in file.append(bytes) }
package enum GeneratedFeed: String, CaseIterable, Sendable {
    /// Ten football matches at once: `MatchDay`.
    case matchDay = "match-day"
    /// Twenty orders of an evening, from the kitchen to the door.
    case delivery
    /// Twenty rides, from the search for a driver to the fare.
    case ride
    /// A restaurant's queue: forty parties, some of which give up.
    case queue
    /// A thousand orders of an evening.
    case orders

    /// Friday evening: 2026-06-12 17:00 UTC.
    private static let evening = FeedTime(seconds: 1_781_283_600)

    /// Writes the feed in chunks of whole lines, about 64 KiB each, in order of delivery.
    package func write<Failure: Error>(
        seed: UInt64, to sink: ([UInt8]) throws(Failure) -> Void
    ) throws(Failure) {
        var random = SplitMix64(seed: seed)
        switch self {
        case .matchDay: try MatchDay(seed: seed).write(to: sink)
        case .delivery: try GeneratedFeed.orders(20, &random).write(to: sink)
        case .orders: try GeneratedFeed.orders(1000, &random).write(to: sink)
        case .ride: try GeneratedFeed.rides(20, &random).write(to: sink)
        case .queue: try RestaurantQueue.entries(ofParties: 40, from: GeneratedFeed.evening, &random).write(to: sink)
        }
    }

    private static func orders(_ count: Int, _ random: inout SplitMix64) -> [FeedEntry] {
        (0..<count).flatMap { number -> [FeedEntry] in
            var script = PatchScript(
                topic: "order/\(5001 + number)", kind: .delivery, random: SplitMix64(seed: random.next()))
            script.deliver(from: evening + .milliseconds(random.number(in: 0...7_200_000)))
            return script.entries
        }
    }

    private static func rides(_ count: Int, _ random: inout SplitMix64) -> [FeedEntry] {
        (0..<count).flatMap { number -> [FeedEntry] in
            var script = PatchScript(
                topic: "ride/\(7001 + number)", kind: .ride, random: SplitMix64(seed: random.next()))
            script.ride(from: evening + .milliseconds(random.number(in: 0...7_200_000)))
            return script.entries
        }
    }
}
