package import LoadJSON

/// A file that is not what it should be: where, and what was expected.
package struct InputError: Error, CustomStringConvertible {
    package let description: String
}

/// What `fanfare replay --states FILE` says about one topic.
package struct TopicRecord: Sendable {
    package let id: String
    package let ended: Bool
    /// All facts, sent or not.
    package let state: JSON
    /// The last version sent; `nil` when there was none.
    package let published: JSON?
    /// `compactLeading`, `compactTrailing` and `minimal` of that version, as a lineup shows it.
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

    /// How many topics are over.
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

    /// A lineup shows each topic in short, and one of them whole.
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
            (0..<Int64(shown.count)).contains(index), let lit = spotlight["state"], lit.objectValue != nil,
            spotlight["kind"] == rows[Int(index)]["kind"], lit["highlight"] == state["highlight"]
        else {
            reading.fault = "the lineup's spotlight is on none of its topics, or highlights what its state does not"
            return reading
        }
        let topic = shown[Int(index)]
        let bare = TopicBook.withoutHighlight(lit)
        reading.newestButHighlight = reading.newest
        if lit != topics[topic].published { reading.newest.remove(topic) }
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
