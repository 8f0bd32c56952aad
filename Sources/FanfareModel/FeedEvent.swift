/// Id of a topic: a match, an order, a trip. An id looks like a path, for example `match/2500092`; parts with `/`, spaces or non-ASCII characters are
/// percent-encoded.
public struct TopicID: Hashable, Sendable, CustomStringConvertible {
    /// The id as the feed, the decision log and rules files spell it.
    public let rawValue: String
    /// Greatest size of an id in UTF-8: rules may allow less, and commands with a longer id are refused.
    package static let sizeMax = ByteCount.bytes(512)

    /// Creates an id from any text. The engine rejects events of a topic whose id is longer than `Rules.Limits.topicIDSizeMax`.
    public init(_ rawValue: String) { self.rawValue = rawValue }
    /// The `rawValue`.
    public var description: String { rawValue }

    // Inlinable, because each event, and in each shard each publication, looks up its topic in a table.
    /// Returns `true` if the ids' texts are equal byte for byte. Texts that only look alike, such as `é` in one character or in two, are different
    /// ids: the core and the shards must agree, and decision logs compare bytes.
    @inlinable public static func == (a: TopicID, b: TopicID) -> Bool {
        a.rawValue == b.rawValue && a.rawValue.utf8.elementsEqual(b.rawValue.utf8)
    }
    /// Returns whether an id stands before another one by the bytes of their UTF-8: this order is the same in every process.
    package static func precedes(_ a: TopicID, _ b: TopicID) -> Bool {
        a.rawValue.utf8.lexicographicallyPrecedes(b.rawValue.utf8)
    }
    /// Hashes the text. Swift keys the hash per process, so attackers cannot choose ids that collide.
    @inlinable public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }

    /// Id that stands for all topics in an operator's order in a feed, or for all of the kind that the order names. No topic has this id.
    /// Programs use `Scope`.
    package static let every = TopicID("*")
}

/// Kind of a topic, which selects its reducer and its rules. A topic without a kind has patches only.
public struct TopicKind: Hashable, Sendable, CustomStringConvertible {
    /// The kind as feeds, rules files and the decision log spell it. A lineup's state carries it to the phone.
    public let rawValue: String
    /// Creates a kind from any text. A kind that `Rules.kinds` does not name follows `Rules.other`.
    public init(_ rawValue: String) { self.rawValue = rawValue }
    /// The `rawValue`.
    public var description: String { rawValue }

    /// A match. Its reducer folds facts such as `teams`, `goal`, `card` and `period` into score, clock and cards.
    public static let football = TopicKind("football")
    /// A trip. Its reducer folds facts `position` and `absent` into the stops and minutes left.
    public static let transit = TopicKind("transit")
    /// An ice hockey game. Its reducer counts goals, penalties and periods.
    public static let hockey = TopicKind("hockey")
    /// A volleyball match. Its reducer counts points and sets.
    public static let volleyball = TopicKind("volleyball")
    /// A delivery order. Patches only.
    public static let delivery = TopicKind("delivery")
    /// A ride, from the search for a driver to the fare. Patches only.
    public static let ride = TopicKind("ride")
    /// A place in a queue. Patches only.
    public static let queue = TopicKind("queue")
    /// Patches only: the feed sends absolute values, and the topic's state is their merge.
    public static let generic = TopicKind("generic")
}

/// Something that happened in a topic. The core folds facts as a set: their order of arrival does not matter, and the withdrawal of a fact may come
/// at any time, even before the fact.
public struct Fact: Hashable, Sendable {
    /// Id from the provider. A second fact with the same id is a `duplicate`. A retraction names the fact by this id, and the id is the cause of the
    /// fact's alert.
    public let id: String
    /// Kind of the fact, as the topic's reducer knows it: `goal`, `card`, `period`, `position`, …
    public let kind: String
    /// Time at which the fact happened, by the provider's clock. The ledger folds facts in the order of these times.
    public let at: FeedTime
    /// Values for the reducer of the topic's kind: a goal's `side`, a card's `player`. The reducer ignores unknown members.
    public let values: JSONObject

    /// Creates a fact without checks. The core records values that the topic's reducer cannot fold as `rejected`, and a kind that
    /// it does not know as `unchanged`.
    public init(id: String, kind: String, at: FeedTime, values: JSONObject) {
        self.id = id
        self.kind = kind
        self.at = at
        self.values = values
    }

    /// Returns the fact with another time.
    package func dated(_ at: FeedTime) -> Fact { Fact(id: id, kind: kind, at: at, values: values) }
}

/// Text of an alert, as people read it.
public struct AlertText: Hashable, Sendable {
    /// A line of an alert: words, or the name of words that the app has in each of its languages.
    public enum Line: Hashable, Sendable, ExpressibleByStringInterpolation, CustomStringConvertible {
        /// Words in the language of the backend.
        case text(String)
        /// A key of the app's strings file, and the arguments for its placeholders.
        case localized(key: String, arguments: [String] = [])

        /// Creates a `.text` from a string literal, interpolations included.
        public init(stringLiteral text: String) { self = .text(text) }

        /// Words of the line, for logs: of a localized line, its key and arguments separated by spaces.
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
                // Adds the bytes of `{"loc-key":"K"}` and `,"loc-args":["A","B"]`, without the quotes that a text has, too.
                arguments.reduce(key.escapedByteCount + 12 + (arguments.isEmpty ? 0 : 13)) {
                    $0 + $1.escapedByteCount + 3
                }
            }
        }
    }

    /// Default limit of an alert's `size`.
    package static let sizeMax = ByteCount.bytes(768)

    /// Bold first line.
    public var title: Line
    /// Text below the title.
    public var body: Line
    /// Name of a sound file in the app, or `default`.
    public var sound: String?

    /// Creates a text from plain words. An alert larger than `Rules.Limits.alertSizeMax` is demoted.
    public init(title: String, body: String, sound: String? = nil) {
        self.init(title: .text(title), body: .text(body), sound: sound)
    }

    /// Creates a text from lines, each of which may be words or a key of the app's strings file.
    public init(title: Line, body: Line, sound: String? = nil) {
        self.title = title
        self.body = body
        self.sound = sound
    }

    /// Size of all words in the JSON of a push: two bytes for a quote or a line break, six for a control character. Includes the JSON
    /// around localized words.
    package var size: ByteCount { .bytes(title.byteCount + body.byteCount + (sound?.escapedByteCount ?? 0)) }
}

extension String {
    /// Bytes of the text in JSON, without the quotes, as `JSONValue.write` writes it. Counted without allocation, because the
    /// alerts of each member of a lineup may be counted.
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

/// One timestamped thing in a feed, which a decoder passes to the decision core.
///
/// Decoders hold parsing state only. The core decides whether an event is late, a duplicate, or a visible change.
///
/// The struct is small, because every event is passed on several times: members that few events have are stored apart.
public struct FeedEvent: Sendable, Hashable {
    /// Effect of an event on its topic.
    public enum Change: Sendable, Hashable {
        /// Changes nothing that the reducer folds: a pass, a throw-in. The event still gets its decision record.
        case nothing
        /// Merges values into the state: a JSON Merge Patch with absolute values.
        case patch(JSONObject)
        /// Replaces the whole content state. Members that the new state lacks disappear, whether they came from patches or facts.
        case contentState(JSONObject)
        /// Adds a fact, which the reducer of the topic's kind folds.
        indirect case fact(Fact)
        /// Withdraws the fact with this id.
        indirect case retraction(of: String)
        /// Applies an operator's order. The log contains it, so a replay decides alike.
        case operation(Operation)
    }

    /// An operator's order for the topics of a `Scope`: one topic, all topics, all of a kind, or all that one app shows, later topics included. Only
    /// the opposite order for the same scope lifts an order: a match that was paused alone stays paused when all topics resume.
    public enum Operation: String, Sendable, Hashable, CaseIterable {
        /// Demotes alerts until `unmute`.
        case mute
        /// Lets the rules grant alerts again. Alerts that were demoted stay silent.
        case unmute
        /// Shows nothing until `resume`, except an end, which is shown at once.
        case pause
        /// Shows the changes made during the pause, silently.
        case resume
        /// Sends the newest state once more, silently, even to activities that have it.
        case republish
        /// Restarts the feed's times, numbers and ids, for a feed whose clock or numbering was wrong. The published state stays. An ended topic may
        /// begin again.
        case reset
    }

    /// Effect of an event on its topic's life, beside its change: the topic begins, or the topic and its cards end with the newest state.
    public enum Lifecycle: Sendable, Hashable { case start, end }

    /// Largest normal difference between the clocks of providers and of the engine. An event further ahead of log time has a wrong
    /// time, which must not make all later ones late.
    package static let aheadMax = Duration.seconds(120)

    /// Topic of the event; `*` in an operator's order for all topics.
    public var topic: TopicID
    /// Kind of the topic, on the first event that knows it; later events may repeat it.
    public var topicKind: TopicKind?
    /// Event time, by the provider's clock. It may go back within a topic; the rules define how far back is late.
    public var at: FeedTime
    /// Number of the event within its topic, counting up, if the feed numbers its patches; the core drops older patches.
    public var seq: UInt64?
    /// Beginning or end of the topic; `nil` if the event is neither of them.
    public var lifecycle: Lifecycle?
    /// Is `true` for an operator's correction: a fact, a retraction or a patch. The core folds it like the feed's own, treats it as newer than all
    /// patches of the feed so far, and does not delay it by the minimum interval.
    public var isCorrection: Bool
    /// Id from the provider; a second event with the same id is a duplicate.
    public var id: String?
    /// Name of the event in the feed: `pass`, `goal`, `delete`. For people and the decision log.
    public var kind: String
    /// Effect of the event on the topic's facts or state.
    public var change: Change
    /// Alert that a native feed requests, in its own words.
    public var alert: AlertText? {
        get { extra?.alert }
        set { extra = Extra.holding(alert: newValue, app: app) }
    }
    /// App whose subscribers an order for all topics concerns; `nil`: all apps.
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

        /// Not an initialiser, which would allocate for every event before it could return `nil`.
        @inline(__always)
        static func holding(alert: AlertText?, app: AppID?) -> Extra? {
            alert == nil && app == nil ? nil : Extra(alert: alert, app: app)
        }
    }
}

// In an extension, so that the memberwise initialiser remains: an explicit one would copy an event once more.
extension FeedEvent {
    /// Creates an event without checks; the decision core answers an event that it cannot take with a `rejected` record.
    ///
    /// - Parameters:
    ///   - topic: topic of the event.
    ///   - topicKind: on the first event that knows it; the core rejects a later one of another kind.
    ///   - at: event time, not the time of the call.
    ///   - seq: counts up within the topic; only if the feed numbers its patches.
    ///   - id: a second event with the same id in its topic is a `duplicate`; `nil` is never one.
    ///   - kind: for people and the log; it has no effect on decisions.
    ///   - lifecycle: `nil` if the event neither begins nor ends its topic.
    ///   - change: effect on the topic's facts or state.
    ///   - alert: the feed's own words; the rules decide whether they alert.
    ///   - isCorrection: `true` if an operator corrects the feed.
    ///   - app: app whose subscribers an operation on all topics concerns; `nil`: all apps.
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

/// A line or record that could not become an event. A program gets it once, with its location, and the feed continues.
public struct FeedRejection: Sendable, Hashable, CustomStringConvertible {
    /// `file:line`, or `file` with the record's position in a format without lines.
    public let location: String
    /// Description of the fault and of what was expected, for people.
    public let reason: String
    /// Topic that the line or record names; `nil` if the topic itself cannot be read.
    public let topic: TopicID?
    /// Event time of the line or record; `nil` without a plausible one.
    public let at: FeedTime?

    /// Creates a rejection as a decoder makes it, for tests of what a program does with one.
    ///
    /// - Parameters:
    ///   - location: `file:line`, or `file` with the record's position.
    ///   - reason: one line for people.
    ///   - topic: `nil` if the line or record names none.
    ///   - at: `nil` without a plausible time.
    public init(location: String, reason: String, topic: TopicID? = nil, at: FeedTime? = nil) {
        self.location = location
        self.reason = reason
        self.topic = topic
        self.at = at
    }

    /// Location and reason in one line.
    public var description: String { "\(location): \(reason)" }
}
