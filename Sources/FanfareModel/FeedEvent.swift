/// What people follow: a match, an order, a trip. Path-like, for example `match/2500092`; parts are percent-encoded where
/// they hold `/`, spaces or non-ASCII.
public struct TopicID: Hashable, Sendable, CustomStringConvertible {
    /// The id as the feed, the decision log and rules files spell it.
    public let rawValue: String
    /// Any text will do here. The engine rejects events of a topic whose id is longer than
    /// `Rules.Limits.topicIDBytesMax`.
    public init(_ rawValue: String) { self.rawValue = rawValue }
    /// The `rawValue`.
    public var description: String { rawValue }

    // Tables of topics are asked for each event, and in each shard for each publication: other modules see what is inlined.
    /// Two ids are equal when their texts are.
    @inlinable public static func == (a: TopicID, b: TopicID) -> Bool { a.rawValue == b.rawValue }
    /// Feeds the text to the hasher, which has a key of the process: ids that strangers choose cannot be made to
    /// collide.
    @inlinable public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }

    /// No topic's own: a feed writes it for all topics, or all of the kind that an order names. Programs say `Scope`.
    package static let every = TopicID("*")
}

/// Decides which reducer and which rules a topic has. A topic without a kind knows patches only.
public struct TopicKind: Hashable, Sendable, CustomStringConvertible {
    /// The kind as feeds, rules files and the decision log spell it. A lineup's state carries it to the phone.
    public let rawValue: String
    /// Any text will do. A kind that `Rules.kinds` does not name follows `Rules.other`.
    public init(_ rawValue: String) { self.rawValue = rawValue }
    /// The `rawValue`.
    public var description: String { rawValue }

    /// A match. Facts `teams`, `goal`, `card`, `period` and others are folded into score, clock and cards.
    public static let football = TopicKind("football")
    /// A trip. Facts `position` and `absent` are folded into the stops and minutes that are left.
    public static let transit = TopicKind("transit")
    /// An ice hockey game: goals, penalties and periods are counted.
    public static let hockey = TopicKind("hockey")
    /// A volleyball match: points and sets are counted.
    public static let volleyball = TopicKind("volleyball")
    /// An order on its way to the door. Patches only.
    public static let delivery = TopicKind("delivery")
    /// A ride from the search for a driver to the fare. Patches only.
    public static let ride = TopicKind("ride")
    /// A place in a queue. Patches only.
    public static let queue = TopicKind("queue")
    /// Patches only: the feed sends absolute values and the topic's state is their merge.
    public static let generic = TopicKind("generic")
}

/// Something that happened in a topic. Facts are folded as a set: the order of their arrival does not matter, and one can
/// be withdrawn at any time, even before it arrives.
public struct Fact: Hashable, Sendable {
    /// The provider's id. A second fact of the same id is a `duplicate`; a retraction names it; an alert has it for its
    /// cause.
    public let id: String
    /// As the topic kind's reducer knows it: `goal`, `card`, `period`, `position`, …
    public let kind: String
    /// When it happened, by the provider's clock: facts are folded in this order.
    public let at: FeedTime
    /// What the reducer of the topic's kind reads: a goal's `side`, a card's `player`. Members that it does not know
    /// are ignored.
    public let values: JSONObject

    /// A fact is checked when the core takes it: values that the topic's reducer cannot fold are a `rejected` record, a
    /// kind that it does not know is an `unchanged` one.
    public init(id: String, kind: String, at: FeedTime, values: JSONObject) {
        self.id = id
        self.kind = kind
        self.at = at
        self.values = values
    }

    /// The same as if it had happened then.
    package func dated(_ at: FeedTime) -> Fact { Fact(id: id, kind: kind, at: at, values: values) }
}

/// Text of a request for attention, as people read it.
public struct AlertText: Hashable, Sendable {
    /// Words as they stand, or the name of words that the app brings along in each of its languages.
    public enum Line: Hashable, Sendable, ExpressibleByStringInterpolation, CustomStringConvertible {
        /// These words, in the language in which the backend wrote them.
        case text(String)
        /// A key of the app's strings file, and what goes in the places it leaves open.
        case localized(key: String, arguments: [String] = [])

        /// Lets a text, interpolations included, stand where a line is expected: `.text`.
        public init(stringLiteral text: String) { self = .text(text) }

        /// The words for logs: a localized line is its key and its arguments with blanks between.
        public var description: String {
            switch self {
            case .text(let text): text
            case .localized(let key, let arguments): ([key] + arguments).joined(separator: " ")
            }
        }

        fileprivate var byteCount: Int {
            switch self {
            case .text(let text): text.escapedByteCount
            case .localized(let key, let arguments):
                // `{"loc-key":"K"}` and `,"loc-args":["A","B"]`, but for the quotes that a text has, too.
                arguments.reduce(key.escapedByteCount + 12 + (arguments.isEmpty ? 0 : 13)) {
                    $0 + $1.escapedByteCount + 3
                }
            }
        }
    }

    /// `byteCount` that an alert may have where nothing else is said.
    package static let bytesMax = 768

    /// The bold first line.
    public var title: Line
    /// What stands below the title.
    public var body: Line
    /// Name of a file that the app brings along, or `default`.
    public var sound: String?

    /// Words as they stand. An alert with more bytes than `Rules.Limits.alertBytesMax` is demoted.
    public init(title: String, body: String, sound: String? = nil) {
        self.init(title: .text(title), body: .text(body), sound: sound)
    }

    /// Lines that may each be words or a key of the app's strings file.
    public init(title: Line, body: Line, sound: String? = nil) {
        self.title = title
        self.body = body
        self.sound = sound
    }

    /// Bytes of all its words as they stand in a push: in JSON, where a quote and a line break are two and a control character is six, and
    /// with all that goes round localized words.
    package var byteCount: Int { title.byteCount + body.byteCount + (sound?.escapedByteCount ?? 0) }
}

extension String {
    /// In JSON, without the quotes around it: what `JSONValue.write` makes of it. No bytes are made to count them, for each member of a
    /// lineup may have its alerts counted.
    package var escapedByteCount: Int {
        utf8.reduce(0) { count, byte in
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"):
                count + 2
            case 0..<0x20: count + 6
            default: count + 1
            }
        }
    }
}

/// One timestamped thing in a feed: what a decoder hands to the decision core.
///
/// Decoders hold parsing state only. Whether an event is late, a duplicate, or changes anything people see is decided by
/// the core.
///
/// Small, because every event is handed on several times: what few events have stands apart.
public struct FeedEvent: Sendable, Hashable {
    /// What an event does to its topic.
    public enum Change: Sendable, Hashable {
        /// Nothing the reducer folds: a pass, a throw-in. It still gets its decision record.
        case nothing
        /// JSON Merge Patch with absolute values.
        case patch(JSONObject)
        /// The whole content state. What it lacks is gone, whether patches or facts had brought it.
        case contentState(JSONObject)
        /// Something happened: the reducer of the topic's kind folds it.
        indirect case fact(Fact)
        /// Withdraws the fact of this id.
        indirect case retraction(of: String)
        /// Somebody at a desk steps in. It stands in the log like all else, so a replay decides alike.
        case operation(Operation)
    }

    /// What an operator does to the topics of a `Scope`: to one, to all, to all of a kind, or to all that one app shows, those to
    /// come included. Each order is lifted by its opposite for the same: a match that was paused by itself stays so when
    /// everything resumes.
    public enum Operation: String, Sendable, Hashable, CaseIterable {
        /// Alerts are demoted until `unmute`.
        case mute
        /// Alerts are granted again by the rules. Those that were demoted meanwhile do not come back.
        case unmute
        /// Nothing is shown until `resume`, whatever happens; but an end is, at once.
        case pause
        /// What changed meanwhile is shown, silently.
        case resume
        /// The newest state goes out once more, silently, although everybody may have it.
        case republish
        /// Its feed's times, numbers and ids count from here, whatever came before: for a feed whose clock or numbering was wrong. What
        /// it shows stays. A topic that has ended may begin again.
        case reset
    }

    /// What an event says of its topic's life, beside its change: the topic begins, or it is over and its cards end
    /// with the newest state.
    public enum Lifecycle: Sendable, Hashable { case start, end }

    /// Clocks of providers and ours differ by less. What is further ahead of log time has a wrong time, which must not make everything
    /// late that comes after it.
    package static let aheadMax = Duration.seconds(120)

    /// The topic that the event is of; `*` in an operator's order for all of them.
    public var topic: TopicID
    /// On the first event of a topic; later ones may repeat it.
    public var topicKind: TopicKind?
    /// Event time, by the provider's clock. It may go back within a topic; the rules say how far back is late.
    public var at: FeedTime
    /// Counts up within a topic where the feed numbers its patches; an older one is dropped.
    public var seq: UInt64?
    /// `nil` where the event neither begins nor ends its topic.
    public var lifecycle: Lifecycle?
    /// An operator puts the feed right, by hand: with a fact, the retraction of one, or a patch. It is folded as the feed's own
    /// are, is newer than any patch of the feed so far, and passes the minimum interval.
    public var isCorrection: Bool
    /// The provider's id of the event; the same id again is a duplicate.
    public var id: String?
    /// What the feed calls it: `pass`, `goal`, `delete`. For people and the decision log.
    public var kind: String
    /// What the event does to the topic's facts or state.
    public var change: Change
    /// A native feed may ask for an alert with its own words.
    public var alert: AlertText? {
        get { extra?.alert }
        set { extra = Extra.holding(alert: newValue, app: app) }
    }
    /// Whose people an order for all topics is about; `nil`: everybody.
    public var app: AppID? { extra?.app }
    private var extra: Extra?
    package var asksForAlert: Bool { extra?.alert != nil }

    private final class Extra: Sendable, Hashable {
        let alert: AlertText?
        let app: AppID?

        private init(alert: AlertText?, app: AppID?) {
            self.alert = alert
            self.app = app
        }

        static func == (a: Extra, b: Extra) -> Bool { a.alert == b.alert && a.app == b.app }

        func hash(into hasher: inout Hasher) {
            hasher.combine(alert)
            hasher.combine(app)
        }

        /// Not an initialiser: that would ask for the memory first, for every event.
        @inline(__always)
        static func holding(alert: AlertText?, app: AppID?) -> Extra? {
            alert == nil && app == nil ? nil : Extra(alert: alert, app: app)
        }
    }
}

// In an extension, so that the compiler's own initialiser is left: one that sets member by member copies an event once more.
extension FeedEvent {
    /// Nothing is checked here: the decision core answers what it cannot take with a `rejected` record.
    ///
    /// - Parameters:
    ///   - topic: what the event is of.
    ///   - topicKind: on the first event that knows it; the core rejects a later one of another kind.
    ///   - at: event time, not the time of the call.
    ///   - seq: counts up within the topic; only where the feed numbers its patches.
    ///   - id: a second event of the same id in its topic is a `duplicate`; `nil` is never one.
    ///   - kind: for people and the log; it decides nothing.
    ///   - lifecycle: `nil` where the event neither begins nor ends its topic.
    ///   - change: what it does to the topic's facts or state.
    ///   - alert: words of the feed's own; the rules decide whether people are alerted.
    ///   - isCorrection: somebody at a desk puts the feed right.
    ///   - app: only for an operation on all topics: the app whose people it is about.
    public init(
        topic: TopicID, topicKind: TopicKind? = nil, at: FeedTime, seq: UInt64? = nil, id: String? = nil, kind: String,
        lifecycle: Lifecycle? = nil, change: Change = .nothing, alert: AlertText? = nil, isCorrection: Bool = false,
        app: AppID? = nil
    ) {
        self.init(
            topic: topic, topicKind: topicKind, at: at, seq: seq, lifecycle: lifecycle, isCorrection: isCorrection,
            id: id, kind: kind, change: change, extra: Extra.holding(alert: alert, app: app))
    }
}

/// A line or record that could not become an event. Reported once, with the place, and the feed goes on.
package struct FeedRejection: Sendable, Hashable {
    /// `file:line`, or `file` with the record's position where the format has no lines.
    package var place: String
    /// What is wrong and what was expected.
    package var reason: String
    package var topic: TopicID?
    package var at: FeedTime?

    package init(place: String, reason: String, topic: TopicID? = nil, at: FeedTime? = nil) {
        self.place = place
        self.reason = reason
        self.topic = topic
        self.at = at
    }
}
