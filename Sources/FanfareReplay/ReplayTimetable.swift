package import FanfareModel

/// Times at which a replay plays the events of its feed. A live feed ignores all but `until`: the replay takes its events as they come.
package struct ReplayTimetable: Sendable {
    package enum Speed: Sendable, Equatable {
        /// Events are decided as fast as possible, without waiting.
        case max
        /// Seconds of the feed that are replayed in one second.
        case times(Double)
    }

    /// Speed of a recorded feed.
    package var speed = Speed.max
    /// Longest wait between two events, in feed time. Shortens waits only.
    package var gapMax = Duration.seconds(30)
    /// Events before this moment are replayed at full speed.
    package var from: FeedTime?
    /// The replay stops before the first event after this moment.
    package var until: FeedTime?
}
