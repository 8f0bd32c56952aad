import FanfareFanOut
import FanfareModel

@testable import Fanfare

/// Whom the requests to the engine are about, as the world knows them.
extension EngineWorld {
    /// An app: an operator's orders for its people, and the state of each topic that these are to see.
    struct App {
        let id: AppID
        /// Whether the last order that was taken pauses the app; `isPaused` is the last one that was carried out.
        var isToPause = false
        var isPaused = false
        var shown: [TopicID: Publication] = [:]
        /// Publications that the app's people do not see while it is paused.
        var held: [TopicID: Publication] = [:]

        init(id: AppID) { self.id = id }
    }

    struct Topic {
        /// Number of the topic's newest event.
        var number: Int
        /// The request that ended the topic, among those that were taken.
        var endedBy: Int?
        var isPaused = false

        init(number: Int) { self.number = number }
    }

    /// An activity, as the world knows it.
    struct Phone {
        let id: ActivityID
        let subscriber: UInt64
        let app: Int
        var tokens: [[UInt8]]
        /// Number of the phone's tokens that are no longer in use.
        var oldTokens = 0
        /// Topics that requests told the activity to show, and the request's sequence number; a `nil` topic ends the activity.
        var choices: [(sequence: Int, topic: TopicID?)] = []
        var isFlying = false
        var stamp = Int64.min
        var sent: [UInt8] = []
        var shown: [UInt8]?
        var refused: [UInt8]? { didSet { wasRefused = wasRefused || refused != nil } }
        private(set) var wasRefused = false
        var alerts: Set<String> = []
        var isDead = false
        var deathsTold = 0
        var hasEnded = false
        /// Is `true` after an end of the activity's own was refused for good.
        var isLost = false
        /// The last request before the refused end was reported; requests up to it are not carried out.
        var staysSince = -1

        init(id: ActivityID, subscriber: UInt64, app: Int, token: [UInt8]) {
            self.id = id
            self.subscriber = subscriber
            self.app = app
            tokens = [token]
        }

        var isGone: Bool { isDead || hasEnded || isLost }
        var isLive: Bool { !isGone && choices.last?.topic != nil }

        func hasFollowed(_ topic: TopicID) -> Bool { choices.contains { $0.topic == topic } }
    }

    /// A question that must be answered exactly once.
    struct Question {
        var answers = 0
        /// For a settle: its deadline, the number of events taken before it, and the newest event of each topic that is not held back.
        var until: MonotonicTime?
        var sequence = 0
        var numbers: [TopicID: Int] = [:]
        var pauses = 0
        var pausedApps: Set<Int> = []
    }
}
