import FanfareModel
import FanfareQueues

/// Audiences whose completion is to be noted anew, because activities have joined them: a note covers only joiners before the log time that the core
/// has sent, and no member while the store's cards are loaded.
struct JoinedAudiences {
    /// Audiences joined since the last `advance`.
    private var joined: [AudienceIndex] = []
    /// Audiences joined between two calls of `advance`, with the log time after which no activity of the round has joined: a note covers all of the
    /// round once log time has passed that.
    private var rounds = Queue<(sent: FeedTime, audiences: [AudienceIndex])>()
    /// Number of audiences of the rounds, and number of the present round.
    private var roundsCount = 0
    private var round: UInt32 = 1
    /// Audiences whose notes may cover their joiners now.
    var caughtUp: [AudienceIndex] = []
    /// Is `true` while the store's cards are loaded.
    var isLoading = false
    /// Audiences that got their newest version during loading.
    private var loaded: [AudienceIndex] = []

    /// Greatest number of audiences that are noted anew. A restart sends the state again to joiners of the others.
    private static let countMax = 1 << 20

    /// Notes that all joiners before that log time have come.
    ///
    /// - Parameter sent: log time after which no applied call was taken.
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

    mutating func note(_ index: AudienceIndex, _ place: inout JoinedPlace) {
        guard place.round != round, joined.count + roundsCount < JoinedAudiences.countMax else { return }
        place.round = round
        joined.append(index)
    }

    mutating func noteLoaded(_ index: AudienceIndex, _ place: inout JoinedPlace) {
        guard !place.isLoaded, loaded.count < JoinedAudiences.countMax else { return }
        place.isLoaded = true
        loaded.append(index)
    }

    mutating func endLoading() {
        isLoading = false
        caughtUp += loaded
        loaded = []
    }

    /// Describes a wrong count of audiences, or too many; `nil` if there is none.
    func violation() -> String? {
        let waiting = rounds.elements.reduce(0) { $0 + $1.audiences.count }
        guard waiting == roundsCount else { return "\(roundsCount) joined audiences are counted, \(waiting) wait" }
        guard joined.count + roundsCount <= JoinedAudiences.countMax, loaded.count <= JoinedAudiences.countMax else {
            return "\(joined.count + roundsCount) joined audiences wait, and \(loaded.count) loaded ones"
        }
        return nil
    }
}
