public import LoadJSON

/// A file that is not what it should be: where, and what was expected.
public struct InputError: Error, CustomStringConvertible {
    public let description: String
}

/// What `fanfare replay --states FILE` says about one topic.
public struct TopicRecord: Sendable {
    public let id: String
    public let ended: Bool
    /// All facts, sent or not.
    public let state: JSON
    /// The last version sent; `nil` when there was none.
    public let published: JSON?

    public init(id: String, ended: Bool, state: JSON, published: JSON?) {
        self.id = id
        self.ended = ended
        self.state = state
        self.published = published
    }

    public init(line: JSON) throws(InputError) {
        guard let id = line["topic"]?.stringValue, let ended = line["ended"]?.boolValue, let state = line["state"],
            state.objectValue != nil
        else { throw InputError(description: "a line of the states file wants topic, ended, state and published") }
        let published = line["published"]
        self.init(
            id: id, ended: ended, state: state, published: published?.objectValue == nil ? nil : published)
    }
}

/// Tells which topics a content state can belong to, and whether it is the newest of them.
///
/// A dump knows no topics, only what phones were shown. A state names its topic by `home` and `away` (football); where it
/// has no such pair (transit), it belongs to the topics whose published state it equals, and an older one to any.
struct TopicBook {
    /// What a content state in the dump means; worked out once per distinct state.
    struct Reading {
        /// Topics the state can belong to; in a lineup, those it shows. `nil`: any.
        var topics: Set<Int>?
        /// Topics whose newest state this is.
        var newest: Set<Int> = []
        /// As `newest`, but for `highlight`, which follows the alert that a push carries.
        var newestButHighlight: Set<Int> = []
        /// Equal for states that differ in nothing but `highlight`. (A hash: enough of them would not fit.)
        var hashButHighlight = 0
        /// Topics a lineup has and has no room to show.
        var more = 0
        /// Why it is no state at all.
        var fault: String?
    }

    private struct Pair: Hashable {
        let home: String
        let away: String

        init?(_ state: JSON) {
            guard let home = state["home"]?.stringValue, let away = state["away"]?.stringValue else { return nil }
            self.home = home
            self.away = away
        }
    }

    let topics: [TopicRecord]
    private let publishedButHighlight: [JSON?]
    private var byPair: [Pair: Set<Int>] = [:]
    private var byID: [String: Int] = [:]
    private var byPublished: [JSON: Set<Int>] = [:]
    private var byPublishedButHighlight: [JSON: Set<Int>] = [:]

    init(_ topics: [TopicRecord]) throws(InputError) {
        self.topics = topics
        publishedButHighlight = topics.map { $0.published.map(TopicBook.withoutHighlight) }
        for (index, topic) in topics.enumerated() {
            guard byID.updateValue(index, forKey: topic.id) == nil else {
                throw InputError(description: "topic \(topic.id) is in the states file twice")
            }
            if let pair = Pair(topic.published ?? topic.state) { byPair[pair, default: []].insert(index) }
            if let published = topic.published {
                byPublished[published, default: []].insert(index)
                byPublishedButHighlight[TopicBook.withoutHighlight(published), default: []].insert(index)
            }
        }
    }

    /// Whether every topic was published: then a lineup shows all of its own.
    var allPublished: Bool { topics.allSatisfy { $0.published != nil } }

    func read(_ state: JSON) -> Reading {
        var reading = Reading()
        let bare = TopicBook.withoutHighlight(state)
        reading.hashButHighlight = bare.hashValue
        reading.newest = byPublished[state] ?? []
        reading.newestButHighlight = byPublishedButHighlight[bare] ?? []
        if let pair = Pair(state) {
            reading.topics = byPair[pair] ?? []
            if reading.topics?.isEmpty == true {
                reading.fault = "no topic has \(pair.home) against \(pair.away)"
            }
        } else if !reading.newestButHighlight.isEmpty {
            reading.topics = reading.newestButHighlight
        }
        return reading
    }

    func readLineup(_ state: JSON) -> Reading {
        var reading = Reading()
        var shown: Set<Int> = []
        var hasher = Hasher()
        guard let entries = state["topics"]?.arrayValue, !entries.isEmpty else {
            reading.fault = "a lineup without topics"
            return reading
        }
        for entry in entries {
            guard let id = entry["id"]?.stringValue, let index = byID[id], let state = entry["state"],
                entry["kind"]?.stringValue != nil, shown.insert(index).inserted
            else {
                reading.fault = "a lineup's topic is unknown, twice there, or without id, kind and state"
                return reading
            }
            if state == topics[index].published { reading.newest.insert(index) }
            let bare = TopicBook.withoutHighlight(state)
            if bare == publishedButHighlight[index] { reading.newestButHighlight.insert(index) }
            hasher.combine(index)
            hasher.combine(bare)
        }
        guard let spotlight = state["spotlight"]?.intValue, (0..<Int64(entries.count)).contains(spotlight) else {
            reading.fault = "the lineup's spotlight is on none of its topics"
            return reading
        }
        hasher.combine(spotlight)
        reading.hashButHighlight = hasher.finalize()
        reading.topics = shown
        reading.more = Int(clamping: state["more"]?.intValue ?? 0)
        return reading
    }

    private static func withoutHighlight(_ state: JSON) -> JSON {
        state.objectValue.map { .object($0.removing("highlight")) } ?? state
    }
}
