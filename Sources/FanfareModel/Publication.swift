/// `apns-priority`. Ten spends the device's hourly budget, five does not (spec §4.1, documented).
public enum Priority: UInt8, Sendable, Comparable {
    /// The device may put the push off to save power.
    case conserving = 5
    /// The device shows the push at once.
    case immediate = 10
    /// Whether `a` is delivered with less urgency.
    public static func < (a: Priority, b: Priority) -> Bool { a.rawValue < b.rawValue }
}

/// How much an alert matters beside another one: when an activity missed several, the newest of the highest class rides.
public enum AlertClass: UInt8, Sendable, Comparable {
    /// Worth a look: a card, a substitution. Shares the topic's bucket with all others of the class.
    case ordinary = 0
    /// What nobody forgives missing: goals, their cancellation, full time. Has a bucket of its own.
    case essential = 1
    /// Whether `b` goes first where one push can carry only one of them.
    public static func < (a: AlertClass, b: AlertClass) -> Bool { a.rawValue < b.rawValue }
}

/// A granted request for attention that rides on an update. A reference: every lineup of its topic keeps it until eight newer ones
/// of its class have come, and its words are larger than all else that a lineup keeps.
package final class Alert: Sendable {
    /// Id of the fact that caused it. Withdrawing that fact revokes the alert.
    package let cause: String
    package let `class`: AlertClass
    package let text: AlertText
    /// Counted by the fan-out from the moment it learned of the alert; an older one is `stale` and rides no more.
    package let freshFor: Duration
    /// The content state key that this alert is about: it becomes `highlight` of the state it rides on.
    package let highlight: String?

    package init(cause: String, class: AlertClass, text: AlertText, freshFor: Duration, highlight: String?) {
        self.cause = cause
        self.class = `class`
        self.text = text
        self.freshFor = freshFor
        self.highlight = highlight
    }
}

/// A content state as canonical JSON, and where the values of `highlight` and `deepLink` stand in it, so that the fan-out can
/// make them follow the alert carried and the spotlight without parsing.
@usableFromInline package struct EncodedState: Sendable, Hashable {
    package let bytes: [UInt8]
    package let highlight: Range<Int>?
    package let deepLink: Range<Int>?
    /// Bytes of the longest key as `highlight` would name it.
    package let highlightMax: Int
    /// Of the bytes. The same on every node.
    @usableFromInline package let hash: UInt64

    /// What a state may have where nothing else is said.
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

    /// The key that `highlight` names. Keys are plain words, so the quotes are all there is to take off.
    package var highlightedKey: String? {
        guard let highlight, highlight.count > 2 else { return nil }
        return String(decoding: bytes[highlight.lowerBound + 1..<highlight.upperBound - 1], as: UTF8.self)
    }

    /// The same state with another key highlighted.
    package func highlighting(_ key: String) -> [UInt8] {
        guard let highlight else { return bytes }
        var value: [UInt8] = []
        JSONValue.write(key, to: &value)
        return bytes[..<highlight.lowerBound] + value + bytes[highlight.upperBound...]
    }
}

/// What is to be done before an activity has lasted eight hours, while its topic goes on (rule L1).
package struct Expiry: Sendable, Hashable {
    /// It goes on as a new activity, where one can be started; else it ends.
    package var renews: Bool
    /// How long the card stays on the Lock Screen when it ends.
    package var dismissAfter: Duration

    package init(renews: Bool = false, dismissAfter: Duration = .seconds(1800)) {
        self.renews = renews
        self.dismissAfter = dismissAfter
    }
}

/// A new version of a topic on its way to the fan-out: what the decision core hands on, and all that the fan-out knows of it.
/// Immutable and shared by every shard.
@usableFromInline package final class Publication: Sendable {
    @usableFromInline package enum Event: Sendable { case update, end }

    /// Counts publications over all topics, from 1: the name by which outcomes come back.
    @usableFromInline package let serial: UInt64
    package let topicID: TopicID
    /// The same for those who do not want to look it up.
    package let topic: TopicNumber
    package let topicKind: TopicKind
    /// Counts up from 1 within the topic.
    package let version: UInt32
    package let event: Event
    @usableFromInline package let state: EncodedState
    package let priority: Priority
    package let alert: Alert?
    /// Of several activities the one with the higher number stands first (rule U7); `nil`: the system decides.
    package let relevance: Int?
    package let prominence: Prominence
    private let shortForms: ShortFormsSource
    /// What a lineup shows of this version outside its spotlight; made anew each time.
    package var short: ShortForms { shortForms.forms(of: topicID) }
    /// Bytes that the state of any push which shows this topic may have (rule U4).
    package let stateBytesMax: Int
    /// Decisions carry durations; the fan-out turns them into dates when it sends.
    package let staleAfter: Duration?
    /// Set on an end: how long the card stays on the Lock Screen.
    package let dismissAfter: Duration?
    /// Set on an end: what comes under this id next is another's, as the next guest's turn at a table, and so is whoever follows from
    /// now on.
    package let freesID: Bool
    package let expiry: Expiry
    /// By an operator: everybody gets it, also those who have had this state.
    @usableFromInline package let isRepublished: Bool
    /// Hash of what people see of it: equal displays are not sent twice.
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
    /// The same without its alert.
    package var silent: Publication { copy(serial: serial, isRepublished: isRepublished) }

    /// The same once more for everybody, silently.
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
