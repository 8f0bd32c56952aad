import Fanfare
import FanfareFeeds
import FanfareModel

/// What a replay is to do: all that follows from its options and from a scan of its feed, before anything is opened.
struct ReplayPlan {
    let options: ReplayOptions
    /// Of a recorded feed; `nil`: the feed is live, on standard input, and nobody knows what it will say.
    let scan: FeedScan?
    let pace: Pace
    let subscribers: SyntheticSubscribers
    /// Of a recorded feed with a source of subscribers, which is read through it.
    let strangers: StrangeTopics?

    /// Reads a recorded feed once.
    ///
    /// - Throws: `ReplayError`: a file that cannot be read or recognised, or what `init(_:scan:)` throws.
    init(_ options: ReplayOptions) throws(ReplayError) {
        guard !ReplayPlan.isLive(options) else {
            try self.init(options, scan: nil)
            return
        }
        let scan: FeedScan
        do { scan = try FeedScan(options) } catch { throw ReplayError(description: "\(error)") }
        try self.init(options, scan: scan)
    }

    /// - Parameter scan: of the options' feed; `nil` for standard input.
    /// - Throws: `ReplayError`: options that ask for what such a feed does not have.
    init(_ options: ReplayOptions, scan: FeedScan?) throws(ReplayError) {
        guard scan != nil || options.lineups == nil else {
            throw ReplayError(
                description: "lineups need a feed whose topics are known beforehand: name a file, not -")
        }
        if let scan, let topic = options.preview.first(where: { !scan.topics.contains($0) }) {
            throw ReplayError(description: "\(topic): the feed does not speak of it, so there is no preview")
        }
        self.options = options
        self.scan = scan
        // A live event is taken when it comes.
        pace = Pace(speed: scan == nil ? .max : options.speed, gapMax: options.gapMax, from: options.from)
        subscribers = SyntheticSubscribers(
            count: options.subscribers, lineups: options.lineups, hasFavourites: options.hasFavourites,
            seed: options.seed, topics: scan?.topics ?? [])
        strangers = scan.flatMap { scan in
            options.subscriberSource.map { StrangeTopics($0, known: Set(scan.topics)) }
        }
    }

    private static func isLive(_ options: ReplayOptions) -> Bool { options.paths == ["-"] }

    var isLive: Bool { scan == nil }

    /// `nil` where nobody knows.
    var eventsExpected: Int? { scan?.events }
    var skippedFiles: [String] { scan?.skippedFiles ?? [] }

    /// The goals of a recording are as many as there are; a live feed has no end, and a match day has some thirty.
    var goalsMax: Int { isLive ? 10_000 : .max }

    /// Who is loaded beside the synthetic subscribers.
    var subscriberSource: (any SubscriberSource)? { strangers ?? options.subscriberSource }

    /// Synthetic subscribers of topics that nobody knows beforehand; `nil` where there are none.
    var liveAudience: LiveAudience? { isLive && subscribers.count > 0 ? LiveAudience(subscribers) : nil }
}
