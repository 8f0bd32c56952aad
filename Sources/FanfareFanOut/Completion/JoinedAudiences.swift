import FanfareModel
import FanfareQueues

/// Audiences whose completion is to be noted anew, because activities have joined them: a note covers only joiners before the log time that the core
/// has sent, and no member while the store's cards are loaded.
struct JoinedAudiences {
    /// Audiences joined since the last `advance`.
    private var joined: [AudienceIndex] = []
    /// Audiences joined between two calls of `advance`, with the log time after which no activity of the batch has joined: a note covers all of the
    /// batch once log time has passed that.
    private var batches = Queue<(sent: FeedTime, audiences: [AudienceIndex])>()
    /// Number of audiences of the batches, and number of the present batch.
    private var batchesCount = 0
    private var batch: UInt32 = 1
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
            batchesCount += joined.count
            batches.append((sent, joined))
            joined = []
            batch &+= 1
        }
        while let first = batches.first, before > first.sent {
            batches.removeFirst()
            batchesCount -= first.audiences.count
            if caughtUp.isEmpty { caughtUp = first.audiences } else { caughtUp += first.audiences }
        }
    }

    mutating func note(_ index: AudienceIndex, _ place: inout JoinedPlace) {
        guard place.batch != batch, joined.count + batchesCount < JoinedAudiences.countMax else { return }
        place.batch = batch
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
        let waiting = batches.elements.reduce(0) { $0 + $1.audiences.count }
        guard waiting == batchesCount else { return "\(batchesCount) joined audiences are counted, \(waiting) wait" }
        guard joined.count + batchesCount <= JoinedAudiences.countMax, loaded.count <= JoinedAudiences.countMax else {
            return "\(joined.count + batchesCount) joined audiences wait, and \(loaded.count) loaded ones"
        }
        return nil
    }
}
