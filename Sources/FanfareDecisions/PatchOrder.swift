import FanfareModel

/// Order of a topic's patches: by the feed's numbers if it has any, otherwise by their times.
///
/// A provider that restarts may count from the beginning again. A single patch with a low number and a new time may be an old one
/// sent again, so it is *doubted*: refused, but kept. A second one that counts up from it proves that the numbers have begun again.
/// Then the first one counts, too, and patches no newer than the last of the old numbers belong to those, whatever their number.
struct PatchOrder: Sendable {
    private var newestSeq: UInt64?
    @PackedTime private var newestAt: FeedTime?
    /// Newest time of the old numbers.
    @PackedTime private var formerAt: FeedTime?
    /// Patches refused for their numbers although their times are the newest, in order of arrival.
    private var doubted: [Doubted] = []

    /// Maximum number of doubted patches; the oldest are dropped first. A provider may send as many before times can contradict numbers.
    private static let doubtedMax = 16

    struct Doubted: Sendable {
        let seq: UInt64
        let at: FeedTime
        /// Name of the patch in the log.
        let cause: String
        /// Change of the patch; `nothing` if it is too large for any state.
        let change: FeedEvent.Change
    }

    enum Placement {
        /// The patch overrides the present state and these doubted patches, oldest first; if there are any, the numbers begin again
        /// with it.
        case newest(over: [Doubted])
        case refused(Outcome, String)
    }

    /// - Parameters:
    ///   - tolerance: lead over the newest patch that a time must exceed to contradict a number.
    ///   - sizeMax: maximum size of a change that is kept.
    mutating func placement(of patch: FeedEvent, tolerance: Duration, sizeMax: ByteCount) -> Placement {
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
            // New numbers and their times count up together; a late old patch is older than them.
            return .newest(over: below.filter { $0.at + tolerance >= below[0].at })
        }
        doubt(patch, seq, sizeMax: sizeMax)
        return .refused(.late, "patch \(seq) after patch \(newestSeq); kept, lest the numbers begin anew")
    }

    private mutating func doubt(_ patch: FeedEvent, _ seq: UInt64, sizeMax: ByteCount) {
        doubted.removeAll { $0.seq == seq }
        if doubted.count == PatchOrder.doubtedMax { doubted.removeFirst() }
        let fits = patch.change.sizeBound <= sizeMax
        doubted.append(
            Doubted(seq: seq, at: patch.at, cause: patch.cause, change: fits ? patch.change : .nothing))
    }

    /// Returns `true` if a number is greater than the newest, or `nil` if either number is missing.
    func isNewer(seq: UInt64?) -> Bool? {
        guard let seq, let newestSeq else { return nil }
        return seq > newestSeq
    }

    /// Records a patch that is now in place.
    mutating func take(seq: UInt64?, at: FeedTime) {
        if let seq, let newestSeq, seq < newestSeq { formerAt = newestAt }
        newestSeq = seq ?? newestSeq
        newestAt = max(at, newestAt ?? at)
        if !doubted.isEmpty { doubted = [] }
    }
}

extension FeedEvent {
    /// Name of the event in the log.
    var cause: String {
        if let id { return id }
        if case .fact(let fact) = change { return fact.id }
        return kind
    }
}

extension FeedEvent.Change {
    /// Upper bound on the canonical size of a patch.
    fileprivate var sizeBound: ByteCount {
        switch self {
        case .patch(let object), .contentState(let object): object.sizeBound
        case .nothing, .fact, .retraction, .operation: .zero
        }
    }
}

extension PatchOrder {
    func write(to writer: inout SerialWriter) {
        writer.write(newestSeq) { $0.write($1) }
        writer.write(newestAt)
        writer.write(formerAt)
        writer.write(all: doubted) { writer, patch in
            writer.write(patch.seq)
            writer.write(patch.at)
            writer.write(patch.cause)
            writer.write(patch.change)
        }
    }

    init(reading reader: inout SerialReader) throws(SerialError) {
        newestSeq = try reader.optional { (reader) throws(SerialError) in try reader.unsigned() }
        newestAt = try reader.optionalDecidedTime()
        formerAt = try reader.optionalDecidedTime()
        doubted = try reader.all { (reader) throws(SerialError) in
            Doubted(
                seq: try reader.unsigned(), at: try reader.decidedTime(), cause: try reader.text(),
                change: try reader.change())
        }
    }
}
