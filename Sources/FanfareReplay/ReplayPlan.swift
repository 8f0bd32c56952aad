import Fanfare
import FanfareFeeds
import FanfareModel

/// Everything that follows from a replay's options and a scan of its feed, before any file or connection is opened.
struct ReplayPlan {
    let options: ReplayOptions
    /// Scan of a recorded feed; `nil` for a live feed on standard input, whose content is unknown.
    let scan: FeedScan?
    let timeScale: TimeScale
    let subscribers: SyntheticSubscribers
    /// The given subscriber source, read through `StrangeTopics`; `nil` without a source or for a live feed.
    let strangers: StrangeTopics?

    /// Scans a recorded feed once.
    ///
    /// - Throws: `ReplayError` for a file that cannot be read or recognised, and the errors of `init(_:scan:)`.
    init(_ options: ReplayOptions) throws(ReplayError) {
        guard !ReplayPlan.isLive(options) else {
            try self.init(options, scan: nil)
            return
        }
        let scan: FeedScan
        do { scan = try FeedScan(options) } catch { throw ReplayError(description: "\(error)") }
        try self.init(options, scan: scan)
    }

    /// - Parameter scan: scan of the options' feed; `nil` for standard input.
    /// - Throws: `ReplayError` for options that do not suit the feed.
    init(_ options: ReplayOptions, scan: FeedScan?) throws(ReplayError) {
        guard scan != nil || options.subscribers.lineups == nil else {
            throw ReplayError(
                description: "lineups need a feed whose topics are known beforehand: name a file, not -")
        }
        if let scan, let topic = options.preview.first(where: { !scan.topics.contains($0) }) {
            throw ReplayError(description: "\(topic): the feed does not speak of it, so there is no preview")
        }
        self.options = options
        self.scan = scan
        timeScale = TimeScale(options.timetable, isLive: scan == nil)
        subscribers = SyntheticSubscribers(options.subscribers, topics: scan?.topics ?? [])
        strangers = scan.flatMap { scan in
            options.subscribers.source.map { StrangeTopics($0, known: Set(scan.topics)) }
        }
    }

    private static func isLive(_ options: ReplayOptions) -> Bool { options.paths == ["-"] }

    var isLive: Bool { scan == nil }

    /// Number of events in the feed; `nil` if unknown.
    var eventsExpected: Int? { scan?.events }
    var skippedFiles: [String] { scan?.skippedFiles ?? [] }

    /// Most goals that are timed. A recording has a fixed number of goals; a live feed has no end, and a match day has some thirty.
    var goalsMax: Int { isLive ? 10_000 : .max }

    /// Subscribers that are loaded in addition to the synthetic ones.
    var subscriberSource: (any SubscriberSource)? { strangers ?? options.subscribers.source }

    /// Synthetic subscribers of a live feed, whose topics are not known beforehand; `nil` without such subscribers.
    var liveAudience: LiveAudience? { isLive && subscribers.count > 0 ? LiveAudience(subscribers) : nil }
}
