import FanfareModel

/// Audiences whose completion is to be noted anew, because activities have joined them: a note speaks of those alone who joined before the log time
/// that the core has told, or, while the store's cards are loaded, of nobody.
struct JoinedAudiences {
    /// Those that activities have joined since the last `advance`.
    private var joined: [AudienceIndex] = []
    /// Those of each round between two of them, with the log time after which no activity of the round has joined: no note speaks of all of
    /// them before log time has passed that.
    private var rounds = Queue<(sent: FeedTime, audiences: [AudienceIndex])>()
    /// Number of audiences of the rounds, and number of the present round.
    private var roundsCount = 0
    private var round: UInt32 = 1
    /// Those whose notes may speak of those who have joined by now.
    var caughtUp: [AudienceIndex] = []
    /// Is `true` while the store's cards are loaded.
    var isLoading = false
    /// Those whose members have had their newest version meanwhile.
    private var loaded: [AudienceIndex] = []

    /// Greatest number of audiences that are noted anew. A restart sends the state once more to those of the others.
    private static let countMax = 1 << 20

    /// Place of an audience.
    struct Place {
        /// Round in which it was joined last.
        fileprivate var round: UInt32 = 0
        /// Is `true` while it is among those that have had their newest version while cards are loaded.
        fileprivate var isLoaded = false
    }

    /// Notes that all who joined before that log time have joined.
    ///
    /// - Parameter sent: log time after which nothing was taken that has been applied.
    mutating func advance(to before: FeedTime, sent: FeedTime) {
        if !joined.isEmpty {
            roundsCount += joined.count
            rounds.append((sent, joined))
            joined = []
            round &+= 1
        }
        while let first = rounds.first, before > first.sent {
            rounds.removeFirst()
            roundsCount -= first.audiences.count
            if caughtUp.isEmpty { caughtUp = first.audiences } else { caughtUp += first.audiences }
        }
    }

    mutating func note(_ index: AudienceIndex, _ place: inout Place) {
        guard place.round != round, joined.count + roundsCount < JoinedAudiences.countMax else { return }
        place.round = round
        joined.append(index)
    }

    mutating func noteLoaded(_ index: AudienceIndex, _ place: inout Place) {
        guard !place.isLoaded, loaded.count < JoinedAudiences.countMax else { return }
        place.isLoaded = true
        loaded.append(index)
    }

    mutating func endLoading() {
        isLoading = false
        caughtUp += loaded
        loaded = []
    }
}
