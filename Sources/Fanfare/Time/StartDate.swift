import FanfareModel

/// Dates at which a Live Activity can have been started.
enum StartDate {
    /// Earliest start of any Live Activity: they came with iOS 16.1, in October 2022.
    private static let first = FeedTime(rfc3339: "2022-10-01T00:00:00Z")!
    /// Greatest lead of a phone's or backend's clock over ours.
    private static let clockSkewMax = Duration.seconds(300)

    /// Line for operators about an impossible start date.
    static let impossible =
        "no Live Activity was started before October 2022 or in the future (milliseconds? seconds? a default?)"

    static func isPossible(_ date: FeedTime, now: FeedTime) -> Bool {
        date >= first && date <= now + clockSkewMax
    }
}
