import FanfareModel

/// Pace of a topic: the times between its updates on phones, and the delays of its feed that are normal.
public struct TopicPace: Sendable, Hashable {
    /// Minimum time between visible changes that are not essential (rule U5).
    public var minimumInterval: Duration
    /// Time after which a card without news looks old (rule L6).
    public var staleAfter: StaleAfter
    /// Age relative to the topic's newest event beyond which an event is late. A late fact does not alert, unless its alert is
    /// essential and still fresh. Smaller delays are normal for networks and for people who enter data.
    public var lateAfter: Duration

    /// Creates a pace. By default updates are two seconds apart, and a card looks old after an hour.
    public init(
        minimumInterval: Duration = .seconds(2), staleAfter: StaleAfter = .fixed(.seconds(3600)),
        lateAfter: Duration = .seconds(5)
    ) {
        self.minimumInterval = minimumInterval
        self.staleAfter = staleAfter
        self.lateAfter = lateAfter
    }
}

/// Time after which a card without news looks old.
public enum StaleAfter: Sendable, Hashable {
    /// Fixed time after the newest state, whatever the feed's rhythm is.
    case fixed(Duration)
    /// Multiple of the usual time between two events of the topic, within bounds: a feed that polls every 30 seconds is doubtful
    /// sooner than one that sends every 10 minutes.
    case rhythm(times: Int, Bounds)

    /// Bounds on the time that a rhythm yields.
    public struct Bounds: Sendable, Hashable {
        /// Lower bound, however fast the feed is.
        public let atLeast: Duration
        /// Upper bound, however slow the feed is; also used while the feed has no rhythm.
        public let atMost: Duration

        /// Creates bounds. A negative `atLeast` counts as zero, and an `atMost` below it as equal to it.
        public init(atLeast: Duration, atMost: Duration) {
            self.atLeast = max(atLeast, .zero)
            self.atMost = max(atMost, self.atLeast)
        }
    }

    /// - Parameter gap: the topic's usual time between two events; `nil` before the second one.
    func duration(gap: Duration?) -> Duration {
        switch self {
        case .fixed(let duration): return duration
        case .rhythm(let times, let bounds):
            guard let gap else { return bounds.atMost }
            // The product would exceed the bound, and this way it cannot overflow.
            guard gap < bounds.atMost else { return bounds.atMost }
            return min(
                max(.milliseconds(gap.milliseconds * Int64(min(max(times, 1), 1000))), bounds.atLeast), bounds.atMost)
        }
    }
}
