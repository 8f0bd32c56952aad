import FanfareModel

/// Published side of a topic: its newest version, and whether that was the last.
///
/// `state`, `startedAt` and `publishedAt` are `nil` together: before the first publication, and again when an ended topic begins
/// again. Only versions keep counting up, because phones and shards know the topic by them.
struct Shown: Sendable {
    /// Content state of the newest version.
    private(set) var state: JSONObject?
    @PackedTime private(set) var startedAt: FeedTime?
    @PackedTime private(set) var publishedAt: FeedTime?
    /// Version of the newest publication; 0 before the first.
    private(set) var version: UInt32
    private(set) var ended = false
    /// Is `true` when `TopicRules.Lifetime.beginsWhen` held for `state`.
    private(set) var hasBegun = false
    /// Is `true` once an operator has allowed the feed of an ended topic to begin it again, whatever its rules say.
    private(set) var mayReopen = false

    /// - Parameter version: the last version that was published under the topic's id.
    init(version: UInt32 = 0) { self.version = version }

    /// Records the publication of a version.
    ///
    /// - Parameter isLast: `true` if the version ends the topic.
    /// - Returns: the time of the topic's first publication.
    mutating func publish(_ state: JSONObject, hasBegun: Bool, isLast: Bool, now: FeedTime) -> FeedTime {
        let started = startedAt ?? now
        startedAt = started
        version += 1
        self.state = state
        publishedAt = now
        self.hasBegun = hasBegun
        if isLast { ended = true }
        return started
    }

    /// Removes the values that other rules hide from the published state. It is the same version.
    mutating func redact(_ redacted: JSONObject) { if state != nil { state = redacted } }

    /// Resets everything except the version, as for a topic that was never shown.
    mutating func reopen() { self = Shown(version: version) }

    mutating func allowReopening() { mayReopen = ended }

    /// Returns the earliest time for an update that can wait.
    func nextUpdate(after interval: Duration, now: FeedTime) -> FeedTime { publishedAt.map { $0 + interval } ?? now }
}

extension Shown {
    /// Form in which a state is written.
    private enum Writing: UInt8 {
        case whole = 0
        /// The state equals the topic's newest state. Earlier releases wrote it without a hash.
        case asNewestUnproved = 1
        /// The state equals the topic's newest state. A hash tells whether another build derives the same state.
        case asNewest = 2
    }

    /// - Parameter newest: the topic's newest state, which it shows in most cases.
    func write(to writer: inout SerialWriter, beside newest: JSONObject) {
        writer.write(state) { writer, state in
            // The comparison is by bytes, because `==` also equates texts that only look alike.
            let (own, other) = (Shown.bytes(of: state), Shown.bytes(of: newest))
            writer.write(byte: (own == other ? Writing.asNewest : .whole).rawValue)
            if own == other { writer.write(fixed: Shown.hash(own)) } else { writer.write(state) }
        }
        writer.write(startedAt)
        writer.write(publishedAt)
        writer.write(UInt64(version))
        for flag in [ended, hasBegun, mayReopen] { writer.write(flag) }
    }

    private static func bytes(of state: JSONObject) -> [UInt8] {
        var writer = SerialWriter()
        writer.write(state)
        return writer.bytes
    }

    private static func hash(_ bytes: [UInt8]) -> UInt32 { UInt32(truncatingIfNeeded: bytes.fnv1a.mixed >> 32) }

    /// - Parameter isAsWritten: is set to `false` if another build has shown something else: the newest state stands in its place then.
    init(
        reading reader: inout SerialReader, beside newest: JSONObject, isAsWritten: inout Bool
    ) throws(SerialError) {
        state = try reader.optional { (reader) throws(SerialError) in
            switch Writing(rawValue: try reader.byte()) {
            case .whole: return try reader.object()
            case .asNewestUnproved: return newest
            case .asNewest:
                isAsWritten = try reader.fixed32() == Shown.hash(Shown.bytes(of: newest))
                return newest
            case nil: throw .malformed("state")
            }
        }
        startedAt = try reader.optionalDecidedTime()
        publishedAt = try reader.optionalDecidedTime()
        // The next version needs a number, too.
        guard let version = UInt32(exactly: try reader.unsigned()), version < .max else { throw .malformed("version") }
        self.version = version
        ended = try reader.flag("end")
        hasBegun = try reader.flag("beginning")
        mayReopen = try reader.flag("reopening")
    }
}
