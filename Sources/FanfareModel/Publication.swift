/// The `apns-priority`. Ten spends the device's hourly budget, five does not (spec §4.1, documented).
public enum Priority: UInt8, Sendable, Comparable {
    /// The device may delay the push to save power.
    case conserving = 5
    /// The device shows the push at once.
    case immediate = 10
    /// Returns `true` if `a` is less urgent.
    public static func < (a: Priority, b: Priority) -> Bool { a.rawValue < b.rawValue }
}

/// Weight of an alert beside others: if an activity missed several, the newest of the highest class rides.
public enum AlertClass: UInt8, Sendable, Comparable {
    /// Worth a look: a card, a substitution. Shares the topic's bucket with all others of the class.
    case ordinary = 0
    /// Must not be missed: a goal, its cancellation, full time. Has a bucket of its own.
    case essential = 1
    /// Returns `true` if `b` goes first when one push can carry only one of them.
    public static func < (a: AlertClass, b: AlertClass) -> Bool { a.rawValue < b.rawValue }
}

/// A granted alert that rides on an update. A class, because every lineup of its topic keeps it until eight newer ones of its class
/// have come, and its words are larger than everything else that a lineup keeps.
package final class Alert: Sendable {
    /// Id of the fact that caused the alert. The fact's withdrawal revokes the alert.
    package let cause: String
    package let `class`: AlertClass
    package let text: AlertText
    /// Time for which the alert is fresh, from the moment the fan-out received it; an older one is `stale` and rides no more.
    package let freshFor: Duration
    /// Content state key that the alert is about; it becomes `highlight` of the state that carries it.
    package let highlight: String?

    package init(cause: String, class: AlertClass, text: AlertText, freshFor: Duration, highlight: String?) {
        self.cause = cause
        self.class = `class`
        self.text = text
        self.freshFor = freshFor
        self.highlight = highlight
    }
}

/// A content state as canonical JSON, with the positions of its `highlight` and `deepLink`, so that the fan-out can make them
/// follow the carried alert and the spotlight without parsing.
@usableFromInline package struct EncodedState: Sendable, Hashable {
    package let bytes: [UInt8]
    package let highlight: Range<Int>?
    package let deepLink: Range<Int>?
    /// Bytes of the longest key as a value of `highlight`.
    package let highlightMax: Int
    /// Hash of the bytes, under the key of the process; differs between nodes.
    @usableFromInline package let hash: UInt64

    /// Default limit of a state's bytes.
    @usableFromInline package static let bytesMax = 3072

    package init(_ state: JSONObject) {
        var bytes: [UInt8] = []
        var highlight: Range<Int>?
        var deepLink: Range<Int>?
        var highlightMax = 0
        bytes.reserveCapacity(state.bytesUsual)
        bytes.append(UInt8(ascii: "{"))
        for (index, member) in state.members.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            let keyStart = bytes.count
            JSONValue.write(member.key, to: &bytes)
            highlightMax = max(highlightMax, bytes.count - keyStart)
            bytes.append(UInt8(ascii: ":"))
            let start = bytes.count
            member.value.write(to: &bytes)
            if member.key == "highlight" { highlight = start..<bytes.count }
            if member.key == "deepLink" { deepLink = start..<bytes.count }
        }
        bytes.append(UInt8(ascii: "}"))
        self.bytes = bytes
        self.highlight = highlight
        self.deepLink = deepLink
        self.highlightMax = highlightMax
        hash = bytes.keyedHash
    }

    /// Key that `highlight` names. Keys are plain words, so only the quotes need to be removed.
    package var highlightedKey: String? {
        guard let highlight, highlight.count > 2 else { return nil }
        return String(decoding: bytes[highlight.lowerBound + 1..<highlight.upperBound - 1], as: UTF8.self)
    }

    /// Returns the state's bytes with another key highlighted.
    package func highlighting(_ key: String) -> [UInt8] {
        guard let highlight else { return bytes }
        var value: [UInt8] = []
        JSONValue.write(key, to: &value)
        return bytes[..<highlight.lowerBound] + value + bytes[highlight.upperBound...]
    }
}

/// Treatment of an activity that is about to reach eight hours while its topic continues (rule L1).
package struct Expiry: Sendable, Hashable {
    /// Renews the activity as a new one, if the engine can start it; otherwise it ends.
    package var renews: Bool
    /// Time for which the card stays on the Lock Screen after an end at eight hours.
    package var dismissAfter: Duration

    package init(renews: Bool = false, dismissAfter: Duration = .seconds(1800)) {
        self.renews = renews
        self.dismissAfter = dismissAfter
    }
}

/// A new version of a topic on its way to the fan-out, with everything that the fan-out knows of it. Immutable and shared by every shard.
@usableFromInline package final class Publication: Sendable {
    @usableFromInline package enum Event: Sendable { case update, end }

    /// Serial number of the publication over all topics, from 1; outcomes refer to it.
    @usableFromInline package let serial: UInt64
    package let topicID: TopicID
    /// Number of the topic, for receivers that do not look up its id.
    package let topic: TopicNumber
    package let topicKind: TopicKind
    /// Version number within the topic, from 1.
    package let version: UInt32
    package let event: Event
    @usableFromInline package let state: EncodedState
    package let priority: Priority
    package let alert: Alert?
    /// Rank among several activities on one phone, the highest first (rule U7); `nil`: the system decides.
    package let relevance: Int?
    package let prominence: Prominence
    private let shortForms: ShortFormsSource
    /// Short forms, which a lineup shows while the topic is outside its spotlight; made anew for each call.
    package var short: ShortForms { shortForms.forms(of: topicID) }
    /// Maximum bytes of the state in any push that shows this topic (rule U4).
    package let stateBytesMax: Int
    /// Time after sending at which the card looks old; the fan-out turns it into a date.
    package let staleAfter: Duration?
    /// Time for which the card stays on the Lock Screen; set on an end.
    package let dismissAfter: Duration?
    /// Is `true` on an end after which the id belongs to another turn, such as a table's next guests: later publications and
    /// followers are of that turn.
    package let freesID: Bool
    package let expiry: Expiry
    /// Is `true` for an operator's republication, which goes even to activities that have this state.
    @usableFromInline package let isRepublished: Bool
    /// Hash of the visible content; equal displays are not sent twice.
    @inlinable package var display: UInt64 { isRepublished ? (state.hash ^ serial).mixed : state.hash }

    package convenience init(
        serial: UInt64, topicID: TopicID, topic: TopicNumber = .none, topicKind: TopicKind, version: UInt32,
        event: Event, state: EncodedState, priority: Priority, alert: Alert?, relevance: Int? = nil,
        prominence: Prominence = Prominence(),
        short: ShortForms = ShortForms(compactLeading: "", compactTrailing: "", minimal: ""),
        stateBytesMax: Int = EncodedState.bytesMax,
        staleAfter: Duration?, dismissAfter: Duration?, freesID: Bool = false, expiry: Expiry = Expiry(),
        isRepublished: Bool = false
    ) {
        self.init(
            serial: serial, topicID: topicID, topic: topic, topicKind: topicKind, version: version, event: event,
            state: state, priority: priority, alert: alert, relevance: relevance, prominence: prominence,
            shortForms: .made(short), stateBytesMax: stateBytesMax, staleAfter: staleAfter,
            dismissAfter: dismissAfter, freesID: freesID, expiry: expiry, isRepublished: isRepublished)
    }

    package init(
        serial: UInt64, topicID: TopicID, topic: TopicNumber = .none, topicKind: TopicKind, version: UInt32,
        event: Event, state: EncodedState, priority: Priority, alert: Alert?, relevance: Int? = nil,
        prominence: Prominence = Prominence(),
        shortForms: ShortFormsSource,
        stateBytesMax: Int = EncodedState.bytesMax,
        staleAfter: Duration?, dismissAfter: Duration?, freesID: Bool = false, expiry: Expiry = Expiry(),
        isRepublished: Bool = false
    ) {
        self.serial = serial
        self.topicID = topicID
        self.topic = topic
        self.topicKind = topicKind
        self.version = version
        self.event = event
        self.state = state
        self.priority = priority
        self.alert = alert
        self.relevance = relevance
        self.prominence = prominence
        self.shortForms = shortForms
        self.stateBytesMax = stateBytesMax
        self.staleAfter = staleAfter
        self.dismissAfter = dismissAfter
        self.freesID = freesID
        self.expiry = expiry
        self.isRepublished = isRepublished
    }
}

extension Publication {
    /// The publication without its alert.
    package var silent: Publication { copy(serial: serial, isRepublished: isRepublished) }

    /// Returns a silent copy to be sent once more to all activities.
    package func republished(as serial: UInt64) -> Publication { copy(serial: serial, isRepublished: true) }

    private func copy(serial: UInt64, isRepublished: Bool) -> Publication {
        Publication(
            serial: serial, topicID: topicID, topic: topic, topicKind: topicKind, version: version, event: event,
            state: state, priority: priority, alert: nil, relevance: relevance, prominence: prominence,
            shortForms: shortForms, stateBytesMax: stateBytesMax, staleAfter: staleAfter,
            dismissAfter: dismissAfter, freesID: freesID,
            expiry: expiry, isRepublished: isRepublished)
    }
}
