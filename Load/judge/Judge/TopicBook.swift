package import LoadJSON

/// An input file in a wrong format: the place, and what was expected.
package struct InputError: Error, CustomStringConvertible {
    package let description: String
}

/// A topic's line in the output of `fanfare replay --states FILE`.
package struct TopicRecord: Sendable {
    package let id: String
    package let ended: Bool
    /// Content state with all facts, sent or not.
    package let state: JSON
    /// Last version sent; `nil` without one.
    package let published: JSON?
    /// The members `compactLeading`, `compactTrailing` and `minimal` of that version, as a lineup shows them.
    package let short: JSON?

    package init(id: String, ended: Bool, state: JSON, published: JSON?, short: JSON? = nil) {
        self.id = id
        self.ended = ended
        self.state = state
        self.published = published
        self.short = short
    }

    package init(line: JSON) throws(InputError) {
        guard let id = line["topic"]?.stringValue, let ended = line["ended"]?.boolValue, let state = line["state"],
            state.objectValue != nil
        else { throw InputError(description: "a line of the states file wants topic, ended, state and published") }
        let published = line["published"]
        self.init(
            id: id, ended: ended, state: state, published: published?.objectValue == nil ? nil : published,
            short: line["short"])
    }
}

/// Tells which topics a content state can belong to, and whether it is the newest of them.
///
/// A dump contains no topics, only the states that phones were shown. A football state names its topic by `home` and `away`. Without that
/// pair (transit), a state belongs to the topics whose published state it equals, and an older state may belong to any topic.
struct TopicBook {
    /// Meaning of a content state in the dump, determined once per distinct state.
    struct Reading {
        /// Topics that the state can belong to, or that a lineup shows; `nil` for any.
        var topics: Set<Int>?
        /// Topics whose newest state this is.
        var newest: Set<Int> = []
        /// Topics whose newest state this is apart from `highlight`, which follows the alert of a push.
        var newestButHighlight: Set<Int> = []
        /// Hash of the state without `highlight`. A hash, because that many states would not fit into memory.
        var hashButHighlight = 0
        /// Number of the lineup's topics that found no room.
        var more = 0
        /// Reason why the state is invalid; `nil` for a valid state.
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

    /// Is `true` if every topic was published; a lineup then shows all of its topics.
    var allPublished: Bool { topics.allSatisfy { $0.published != nil } }

    /// Number of topics that have ended.
    var ended: Int { topics.count { $0.ended } }

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

    /// Reads a lineup's state, which shows each topic in short and one of them whole.
    func readLineup(_ state: JSON) -> Reading {
        var reading = Reading()
        var shown: [Int] = []
        var hasher = Hasher()
        guard let rows = state["topics"]?.arrayValue, !rows.isEmpty else {
            reading.fault = "a lineup without topics"
            return reading
        }
        for row in rows {
            guard let id = row["id"]?.stringValue, let index = byID[id], row["kind"]?.stringValue != nil,
                !shown.contains(index), let short = TopicBook.short(row)
            else {
                reading.fault = "a lineup's topic is unknown, twice there, or without id, kind and short forms"
                return reading
            }
            shown.append(index)
            if short == topics[index].short { reading.newest.insert(index) }
            hasher.combine(index)
            hasher.combine(short)
        }
        guard let spotlight = state["spotlight"], let index = spotlight["index"]?.intValue,
            (0..<Int64(shown.count)).contains(index), let spotlightState = spotlight["state"],
            spotlightState.objectValue != nil, spotlight["kind"] == rows[Int(index)]["kind"],
            spotlightState["highlight"] == state["highlight"]
        else {
            reading.fault = "the lineup's spotlight is on none of its topics, or highlights what its state does not"
            return reading
        }
        let topic = shown[Int(index)]
        let bare = TopicBook.withoutHighlight(spotlightState)
        reading.newestButHighlight = reading.newest
        if spotlightState != topics[topic].published { reading.newest.remove(topic) }
        if bare != publishedButHighlight[topic] { reading.newestButHighlight.remove(topic) }
        hasher.combine(topic)
        hasher.combine(bare)
        reading.hashButHighlight = hasher.finalize()
        reading.topics = Set(shown)
        reading.more = Int(clamping: state["more"]?.intValue ?? 0)
        return reading
    }

    private static func short(_ row: JSON) -> JSON? {
        guard let leading = row["compactLeading"], let trailing = row["compactTrailing"], let minimal = row["minimal"],
            [leading, trailing, minimal].allSatisfy({ $0.stringValue != nil })
        else { return nil }
        return ["compactLeading": leading, "compactTrailing": trailing, "minimal": minimal]
    }

    private static func withoutHighlight(_ state: JSON) -> JSON {
        state.objectValue.map { .object($0.removing("highlight")) } ?? state
    }
}
