import FanfareModel

/// Which of a topic's patches is the newest: by the feed's numbers where it has any, by their times else.
///
/// A provider that is started anew may count from the beginning again. One patch with a low number and a new time may be an old one sent
/// again, so it is doubted, and kept. A second one that counts up from it shows that the numbers have begun anew; then the first counts
/// as well, and what is no newer than the old numbers' last is theirs, whatever number it has.
struct PatchOrder: Sendable {
    private var newestSeq: UInt64?
    private var newestAt: FeedTime?
    /// The old numbers' newest time.
    private var formerAt: FeedTime?
    /// Refused for their numbers although their times say that they are the newest; in the order in which they came.
    private var doubted: [Doubted] = []

    /// As many as a provider may send before a time says anything against a number. The last ones stay.
    private static let doubtedMax = 16

    struct Doubted: Sendable {
        let seq: UInt64
        let at: FeedTime
        /// As logs name it.
        let cause: String
        /// `nothing` where it is too large for any state.
        let change: FeedEvent.Change
    }

    enum Standing {
        /// It goes over what is in place, and over these, the oldest first: with it the numbers begin anew.
        case newest(over: [Doubted])
        case refused(Outcome, String)
    }

    /// - Parameters:
    ///   - tolerance: by so much newer must a time be to say anything against a number.
    ///   - bytesMax: of a change that is kept.
    mutating func standing(of patch: FeedEvent, tolerance: Duration, bytesMax: Int) -> Standing {
        let at = patch.at
        guard let seq = patch.seq, let newestSeq else {
            guard let newestAt, at < newestAt else { return .newest(over: []) }
            return .refused(.late, "patch late by \((newestAt - at).inSeconds), a newer one is in place")
        }
        if seq == newestSeq { return .refused(.duplicate, "patch \(seq) was here before") }
        guard seq < newestSeq else {
            guard let formerAt, at <= formerAt else { return .newest(over: []) }
            return .refused(.late, "patch \(seq) is from before the numbers began anew")
        }
        guard let newestAt, at > newestAt else { return .refused(.late, "patch \(seq) after patch \(newestSeq)") }
        let speaksFrom = newestAt + tolerance
        if at > speaksFrom, doubted.contains(where: { $0.seq < seq && $0.at > speaksFrom }) {
            let below = doubted.filter { $0.seq < seq }.sorted { $0.seq < $1.seq }
            // New numbers and their times count up together; an old patch that was late is from before them.
            return .newest(over: below.filter { $0.at + tolerance >= below[0].at })
        }
        doubt(patch, seq, bytesMax: bytesMax)
        return .refused(.late, "patch \(seq) after patch \(newestSeq); kept, lest the numbers begin anew")
    }

    private mutating func doubt(_ patch: FeedEvent, _ seq: UInt64, bytesMax: Int) {
        doubted.removeAll { $0.seq == seq }
        if doubted.count == PatchOrder.doubtedMax { doubted.removeFirst() }
        let fits = patch.change.bytesBound <= bytesMax
        doubted.append(
            Doubted(seq: seq, at: patch.at, cause: patch.cause, change: fits ? patch.change : .nothing))
    }

    /// Whether a number is greater than all that have been; `nil` where there are none to compare.
    func isNewer(seq: UInt64?) -> Bool? {
        guard let seq, let newestSeq else { return nil }
        return seq > newestSeq
    }

    /// The patch is in place.
    mutating func take(seq: UInt64?, at: FeedTime) {
        if let seq, let newestSeq, seq < newestSeq { formerAt = newestAt }
        newestSeq = seq ?? newestSeq
        newestAt = max(at, newestAt ?? at)
        if !doubted.isEmpty { doubted = [] }
    }
}

extension FeedEvent {
    /// As logs name it.
    var cause: String {
        if let id { return id }
        if case .fact(let fact) = change { return fact.id }
        return kind
    }
}

extension FeedEvent.Change {
    /// A patch has no more canonical bytes than that.
    fileprivate var bytesBound: Int {
        switch self {
        case .patch(let object), .contentState(let object): object.bytesBound
        case .nothing, .fact, .retraction, .operation: 0
        }
    }
}
