/// The `apns-priority`. Ten spends the device's hourly budget, five does not (spec §4.1, documented).
public enum Priority: UInt8, Sendable, Comparable, BitwiseCopyable {
    /// The device may delay the push to save power.
    case conserving = 5
    /// The device shows the push at once.
    case immediate = 10
    /// Returns `true` if `a` is less urgent.
    public static func < (a: Priority, b: Priority) -> Bool { a.rawValue < b.rawValue }
}

/// Weight of an alert beside others: the next push carries the newest alert of the highest class if an activity has missed several.
public enum AlertClass: UInt8, Sendable, Comparable {
    /// Alert that is worth a look: a card, a substitution. It shares the topic's bucket with all others of the class.
    case ordinary = 0
    /// Alert that people must not miss: a goal, its cancellation, full time. It has a bucket of its own.
    case essential = 1
    /// Returns `true` if `b` goes first when one push can carry only one of them.
    public static func < (a: AlertClass, b: AlertClass) -> Bool { a.rawValue < b.rawValue }
}

/// A granted alert that rides on an update. A class, because every lineup of its topic keeps it until eight newer ones of its class
/// have come, and its words are larger than everything else that a lineup keeps.
package final class Alert: Sendable {
    /// Id of the fact that caused the alert. The fact's withdrawal revokes the alert.
    package let cause: String
    /// Is `true` if the cause is an id of the provider's: an alert of another topic with this cause and the same text is about the same news.
    /// Other causes are counted per topic, and two orders that are "delivered" are two.
    package let isCauseOfProvider: Bool
    package let `class`: AlertClass
    package let text: AlertText
    /// Time for which the alert is fresh, from the moment the fan-out received it; an older one is `stale` and rides no more.
    package let freshFor: Duration
    /// Content state key that the alert is about; it becomes `highlight` of the state that carries it.
    package let highlight: String?
    /// Log time at which the alert was granted. An engine that decides the same again grants it at the same time.
    package let grantedAt: FeedTime
    /// Wall clock time at which the event behind it arrived, as far as known: log time may lag behind.
    package let arrivedAt: FeedTime

    package init(
        cause: String, isCauseOfProvider: Bool = true, class: AlertClass, text: AlertText, freshFor: Duration,
        highlight: String?, grantedAt: FeedTime = FeedTime(milliseconds: 0), arrivedAt: FeedTime? = nil
    ) {
        self.cause = cause
        self.isCauseOfProvider = isCauseOfProvider
        self.class = `class`
        self.text = text
        self.freshFor = freshFor
        self.highlight = highlight
        self.grantedAt = grantedAt
        self.arrivedAt = arrivedAt ?? grantedAt
    }

    /// Returns the time that has passed since the alert was granted, by that of the two clocks by which it is longer.
    package func age(at now: FeedTime, wall: FeedTime) -> Duration {
        max(now - grantedAt, wall - arrivedAt, .zero)
    }
}

/// A content state as canonical JSON, with the positions of its `highlight` and `deepLink`, so that the fan-out can make them
/// follow the carried alert and the spotlight without parsing.
@usableFromInline package struct EncodedState: Sendable, Hashable {
    package let bytes: [UInt8]
    // As small as they can be: each topic has a state, and there may be a million topics.
    private let highlightPlace: Place
    private let deepLinkPlace: Place
    private let storedHighlightSizeMax: UInt32
    package var highlight: Range<Int>? { highlightPlace.range }
    package var deepLink: Range<Int>? { deepLinkPlace.range }
    /// Size of the state.
    package var size: ByteCount { .bytes(bytes.count) }
    /// Size of the longest key as a value of `highlight`.
    package var highlightSizeMax: ByteCount { .bytes(Int(storedHighlightSizeMax)) }
    /// Hash of the bytes, under the key of the process; differs between nodes.
    @usableFromInline package let hash: UInt64

    /// Default limit of a state's size.
    @usableFromInline package static let sizeMax = ByteCount.kibibytes(3)

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
        highlightPlace = Place(highlight)
        deepLinkPlace = Place(deepLink)
        storedHighlightSizeMax = UInt32(clamping: highlightMax)
        hash = bytes.keyedHash
    }

    /// Creates a state from bytes that were encoded before; `nil` if a place is beyond them.
    package init?(
        encoded bytes: [UInt8], highlight: Range<Int>?, deepLink: Range<Int>?, highlightSizeMax: ByteCount
    ) {
        for place in [highlight, deepLink].compactMap(\.self) {
            guard !place.isEmpty, bytes.indices.contains(place.lowerBound), place.upperBound <= bytes.count else {
                return nil
            }
        }
        self.bytes = bytes
        highlightPlace = Place(highlight)
        deepLinkPlace = Place(deepLink)
        storedHighlightSizeMax = UInt32(clamping: highlightSizeMax.bytes)
        hash = bytes.keyedHash
    }

    /// Place of a value in the bytes; empty, as no value is, if there is none.
    private struct Place: Hashable {
        let start: UInt32
        let end: UInt32

        init(_ range: Range<Int>?) {
            start = UInt32(clamping: range?.lowerBound ?? 0)
            end = UInt32(clamping: range?.upperBound ?? 0)
        }

        var range: Range<Int>? { start == end ? nil : Int(start)..<Int(end) }
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

/// A new version of a topic on its way to the fan-out, with everything that the fan-out knows of it. Immutable and shared by every shard.
@usableFromInline package final class Publication: Sendable {
    @usableFromInline package enum Event: Sendable { case update, end }

    // Ordered by size, and as small as they can be: each topic has a publication, and there may be a million topics.
    /// Serial number of the publication over all topics, from 1; outcomes refer to it.
    @usableFromInline package let serial: UInt64
    package let topicID: TopicID
    /// Number of the topic, for receivers that do not look up its id.
    package let topic: TopicNumber
    package let topicKind: TopicKind
    @usableFromInline package let state: EncodedState
    package let alert: Alert?
    private let shortForms: ShortFormsSource
    private let times: PackedTimes
    /// Version number within the topic, from 1.
    package let version: UInt32
    private let storedStateSizeMax: Int32
    private let ranks: PackedRanks
    package let event: Event
    package let priority: Priority
    /// Is `true` on an end after which the id belongs to another tenure, such as a table's next guests: later publications and
    /// followers are of that tenure.
    package let freesID: Bool
    /// Is `true` for an operator's republication, which goes even to activities that have this state.
    @usableFromInline package let isRepublished: Bool

    /// Rank among several activities on one phone, the highest first (rule U7); `nil`: the system decides.
    package var relevance: Int? { ranks.relevance }
    package var prominence: Prominence { ranks.prominence }
    /// Short forms, which a lineup shows while the topic is outside its spotlight; made anew for each call.
    package var short: ShortForms { shortForms.forms(of: topicID) }
    /// Maximum size of the state in any push that shows this topic (rule U4).
    package var stateSizeMax: ByteCount { .bytes(Int(storedStateSizeMax)) }
    /// Time after sending at which the card looks old, in whole milliseconds; the fan-out turns it into a date.
    package var staleAfter: Duration? { times.staleAfter }
    /// Time at which the card leaves the Lock Screen, in whole milliseconds; set on an end.
    package var dismissal: DismissalTime? { times.dismissal }
    package var expiry: Expiry { times.expiry }
    /// Time for which the topic is scheduled, in whole seconds, by which lineups may order it; `nil` while it is not known.
    package var scheduledAt: FeedTime? { times.scheduledAt }
    /// Hash of the visible content; equal displays are not sent twice.
    @inlinable package var displayHash: UInt64 { isRepublished ? (state.hash ^ serial).mixed : state.hash }

    package convenience init(
        serial: UInt64, topicID: TopicID, topic: TopicNumber = .none, topicKind: TopicKind, version: UInt32,
        event: Event, state: EncodedState, priority: Priority, alert: Alert?, relevance: Int? = nil,
        prominence: Prominence = Prominence(),
        short: ShortForms = ShortForms(compactLeading: "", compactTrailing: "", minimal: ""),
        stateSizeMax: ByteCount = EncodedState.sizeMax,
        staleAfter: Duration?, dismissal: DismissalTime?, freesID: Bool = false, expiry: Expiry = Expiry(),
        scheduledAt: FeedTime? = nil, isRepublished: Bool = false
    ) {
        self.init(
            serial: serial, topicID: topicID, topic: topic, topicKind: topicKind, version: version, event: event,
            state: state, priority: priority, alert: alert, relevance: relevance, prominence: prominence,
            shortForms: .made(short), stateSizeMax: stateSizeMax, staleAfter: staleAfter,
            dismissal: dismissal, freesID: freesID, expiry: expiry, scheduledAt: scheduledAt,
            isRepublished: isRepublished)
    }

    package init(
        serial: UInt64, topicID: TopicID, topic: TopicNumber = .none, topicKind: TopicKind, version: UInt32,
        event: Event, state: EncodedState, priority: Priority, alert: Alert?, relevance: Int? = nil,
        prominence: Prominence = Prominence(),
        shortForms: ShortFormsSource,
        stateSizeMax: ByteCount = EncodedState.sizeMax,
        staleAfter: Duration?, dismissal: DismissalTime?, freesID: Bool = false, expiry: Expiry = Expiry(),
        scheduledAt: FeedTime? = nil, isRepublished: Bool = false
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
        ranks = PackedRanks(relevance, prominence)
        self.shortForms = shortForms
        storedStateSizeMax = Int32(clamping: stateSizeMax.bytes)
        self.freesID = freesID
        times = PackedTimes(
            staleAfter: staleAfter, dismissal: dismissal, expiry: expiry, scheduledAt: scheduledAt)
        self.isRepublished = isRepublished
    }
}

extension Publication {
    /// The publication without its alert; the same one if it has none.
    package var silent: Publication {
        alert == nil ? self : copy(serial: serial, isRepublished: isRepublished, scheduledAt: scheduledAt)
    }

    /// Returns a silent copy to be sent once more to all activities.
    package func republished(as serial: UInt64) -> Publication {
        copy(serial: serial, isRepublished: true, scheduledAt: scheduledAt)
    }

    /// Returns a silent copy with a state that is shown in place of its own.
    package func showing(_ state: EncodedState, _ shortForms: ShortFormsSource) -> Publication {
        copy(
            serial: serial, isRepublished: isRepublished, scheduledAt: scheduledAt, state: state,
            shortForms: shortForms)
    }

    /// Returns a silent copy of a topic that other rules schedule otherwise.
    package func scheduled(at time: FeedTime?) -> Publication {
        copy(serial: serial, isRepublished: isRepublished, scheduledAt: time)
    }

    /// Returns the publication as it is handed over so long after it was decided: a silent copy with what is left of the dismissal, or the same one if
    /// that is all.
    package func later(by passed: Duration) -> Publication {
        guard let left = dismissal?.left(after: passed), left != dismissal else { return self }
        return copy(serial: serial, isRepublished: isRepublished, scheduledAt: scheduledAt, dismissal: left)
    }

    private func copy(
        serial: UInt64, isRepublished: Bool, scheduledAt: FeedTime?, state: EncodedState? = nil,
        shortForms: ShortFormsSource? = nil, dismissal: DismissalTime? = nil
    ) -> Publication {
        Publication(
            serial: serial, topicID: topicID, topic: topic, topicKind: topicKind, version: version, event: event,
            state: state ?? self.state, priority: priority, alert: nil, relevance: relevance, prominence: prominence,
            shortForms: shortForms ?? self.shortForms, stateSizeMax: stateSizeMax, staleAfter: staleAfter,
            dismissal: dismissal ?? self.dismissal, freesID: freesID,
            expiry: expiry, scheduledAt: scheduledAt, isRepublished: isRepublished)
    }
}
