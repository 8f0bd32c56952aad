import FanfareLineup
import FanfareModel
import FanfareTestSupport
import Foundation
import Testing

@testable import FanfareFanOut

@Suite struct LineupJSONTests {
    /// Any set of topics with any states: valid JSON within the limit that reads back the same through default coders, the
    /// spotlight whole.
    @Test(arguments: UInt64(1)...10)
    func anyLineupFitsAndReadsBack(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<12 {
            let count = Int.random(in: 1...32, using: &random)
            let largest = [40, 400, 1200, 2900, 6000].randomElement(using: &random) ?? 40
            var display = LineupJSON.Display()
            display.topics = (0..<count).map { LineupTopic(publication($0, stateBytes: largest, using: &random)) }
            display.spotlight = Int.random(in: 0..<count, using: &random)
            let highlighted: String? = Bool.random(using: &random) ? "homeScore" : nil
            let bytes = composed(display, highlighting: highlighted)

            let limit = display.topics.map(\.stateBytesMax).min() ?? 0
            #expect(bytes.count <= limit, "seed \(seed)")
            let content = try JSONDecoder().decode(AnyLineup.self, from: Data(bytes))
            let again = try JSONDecoder().decode(AnyLineup.self, from: JSONEncoder().encode(content))
            #expect(content == again, "seed \(seed)")

            let ids = display.topics.map(\.publication.topicID.rawValue)
            let shown = content.topics.map(\.id)
            #expect(shown == ids.filter(shown.contains), "seed \(seed): the person's order")
            #expect(content.more == count - shown.count)
            func rank(_ index: Int) -> (Int, Int) {
                let topic = display.topics[index].publication
                return (topic.event == .end ? 0 : topic.prominence.hasBegun ? 2 : 1, -index)
            }
            let staying = ids.indices.filter { shown.contains(ids[$0]) && $0 != display.spotlight }
            let left = ids.indices.filter { !shown.contains(ids[$0]) && $0 != display.spotlight }
            #expect(
                left.allSatisfy { out in staying.allSatisfy { rank(out) < rank($0) } },
                "seed \(seed): the least important leave first")
            let topic = display.topics[display.spotlight]
            // The part that cannot be left out; the numbers are those of the keys and brackets.
            let state = topic.publication.state
            let least = state.bytes.count + 2 * topic.row.bytes.count + 100
            guard let spotlight = content.spotlight else {
                #expect(least > limit, "seed \(seed): a spotlight with room is shown")
                continue
            }
            #expect(shown[spotlight.index] == topic.publication.topicID.rawValue, "seed \(seed)")
            let whole = try JSONDecoder().decode(
                AnyState.self, from: Data(state.highlighting(highlighted ?? state.highlightedKey ?? "")))
            #expect(spotlight.state == whole, "seed \(seed)")
            #expect(
                content.highlight.map(AnyState.text) == whole["highlight"] || content.more > 0 || least + 60 > limit)
        }
    }

    /// Where room is short the least important goes first: what is over, what has not begun, the end of the list.
    @Test func aLineupLeavesOutItsLeastImportantTopics() throws {
        var random = SplitMix64(seed: 1)
        func topic(_ number: Int, _ event: Publication.Event, hasBegun: Bool = true) -> LineupTopic {
            LineupTopic(
                publication(number, stateBytes: 60, event: event, hasBegun: hasBegun, limit: 1024, using: &random))
        }
        var display = LineupJSON.Display()
        display.topics = [topic(0, .end), topic(1, .update, hasBegun: false), topic(2, .update), topic(3, .update)]
        var left: [[String]] = []
        for limit in stride(from: 1000, through: 300, by: -1) {
            display.topics = display.topics.map { LineupTopic($0.publication.limited(to: limit)) }
            display.spotlight = 3
            let content = try JSONDecoder().decode(AnyLineup.self, from: Data(composed(display)))
            let shown = content.topics.map { String($0.id.first ?? "?") }
            if shown != left.last { left.append(shown) }
        }
        #expect(left.prefix(4) == [["0", "1", "2", "3"], ["1", "2", "3"], ["2", "3"], ["3"]])
    }

    /// A version has one stamp with an alert and without, and the topics of a card do not come and go.
    /// A state that highlights nothing, as the first one after a topic has begun again, goes on to do so.
    @Test(arguments: [true, false]) func theTopicsThatFindRoomDoNotDependOnTheAlert(highlights: Bool) throws {
        func topic(_ number: Int, limit: Int) -> LineupTopic {
            var state: JSONObject = ["awayScore": 1, "homeScore": 2, "period": "1H"]
            if highlights { state["highlight"] = "period" }
            return LineupTopic(
                Publication.test(
                    of: TopicID("match/\(number)"), state: state,
                    short: ShortForms(compactLeading: "HOM 2", compactTrailing: "1 AWA", minimal: "2–1"),
                    stateSizeMax: .bytes(limit)))
        }
        var counts: Set<Int> = []
        for limit in 300...700 {
            let display = LineupJSON.Display(topics: (0..<5).map { topic($0, limit: limit) })
            let shown = try [nil, "period", "homeScore"].map { highlighted in
                let bytes = composed(display, highlighting: highlighted)
                #expect(bytes.count <= limit)
                let content = try JSONDecoder().decode(AnyLineup.self, from: Data(bytes))
                if let highlighted { #expect(content.highlight == (highlights ? highlighted : nil)) }
                return content.topics.count
            }
            #expect(Set(shown).count == 1, "\(shown) in \(limit) bytes")
            counts.formUnion(shown)
        }
        #expect(counts.isSuperset(of: 1...5))
    }

    /// A version is encoded once for all lineups of a shard, and the next version anew.
    @Test func aVersionIsEncodedOnce() {
        var random = SplitMix64(seed: 1)
        let moment = Moment(wallMilliseconds: 0, monotonicNanoseconds: 0)
        var topics = KnownTopics(unpublishedMax: 1)
        let topic = topics.insert(TopicID("match/1"))
        #expect(topics[topic].inLineups() == nil)
        topics.take(publication(1, stateBytes: 60, using: &random), of: topic, at: moment)
        let first = topics[topic].inLineups()
        #expect(first != nil && first === topics[topic].inLineups())
        topics.take(publication(2, stateBytes: 60, using: &random), of: topic, at: moment)
        let second = topics[topic].inLineups()
        #expect(second != nil && second?.publication === topics[topic].latest)
    }

    @Test func rowsAndSpotlightAreWrittenAsAppsReadThem() throws {
        func publish(_ id: String, _ kind: TopicKind, _ state: JSONObject, _ short: ShortForms) -> LineupTopic {
            LineupTopic(
                Publication.test(of: TopicID(id), kind: kind, state: state, short: short))
        }
        var display = LineupJSON.Display()
        display.topics = [
            publish(
                "match/1", .football, ["homeScore": 2, "highlight": "homeScore", "deepLink": "app://match/1"],
                ShortForms(compactLeading: "TOT 2", compactTrailing: "1 LEI", minimal: "2–1")),
            publish(
                "trip/A", .transit, ["line": "A"], ShortForms(compactLeading: "A", compactTrailing: "3", minimal: "A 3")
            ),
        ]
        #expect(
            String(decoding: composed(display), as: UTF8.self) == #"""
                {"highlight":"homeScore","link":"app://match/1","spotlight":{"index":0,"kind":"football",\#
                "state":{"deepLink":"app://match/1","highlight":"homeScore","homeScore":2}},"topics":[\#
                {"compactLeading":"TOT 2","compactTrailing":"1 LEI","id":"match/1","kind":"football","minimal":"2–1"},\#
                {"compactLeading":"A","compactTrailing":"3","id":"trip/A","kind":"transit","minimal":"A 3"}]}
                """#)
        display.spotlight = 1
        let trip = try JSONDecoder().decode(AnyLineup.self, from: Data(composed(display)))
        #expect(trip.spotlight?.kind == "transit" && trip.spotlight?.state["line"] == .text("A"))
        #expect(trip.link == nil && trip.highlight == nil)
    }

    // MARK: Made up

    private func publication(
        _ number: Int, stateBytes: Int, event: Publication.Event? = nil, hasBegun: Bool? = nil, limit: Int? = nil,
        using random: inout SplitMix64
    ) -> Publication {
        let pieces = ["a", "7", "\"", "\\", "\n", "\u{1}", "é", "–", "日", "⚽️", " "]
        func text(_ count: Int) -> String {
            (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
        }
        var state: JSONObject = ["homeScore": .int(Int64.random(in: -9...9, using: &random)), "highlight": "homeScore"]
        if Bool.random(using: &random) { state["deepLink"] = .string("app://\(text(8))") }
        var size = 40
        while size < stateBytes {
            let value: JSONValue =
                switch Int.random(in: 0..<5, using: &random) {
                case 0: .bool(true)
                case 1: .double(Double.random(in: -1e9...1e9, using: &random))
                case 2: .array([.null, .string(text(5))])
                case 3: ["nested": .string(text(9))]
                default: .string(text(Int.random(in: 0...40, using: &random)))
                }
            state["k\(state.members.count)\(text(2))"] = value
            var bytes: [UInt8] = []
            value.write(to: &bytes)
            size += bytes.count + 16
        }
        let encoded = EncodedState(state)
        return Publication.test(
            of: TopicID("\(number)/\(text(Int.random(in: 0...60, using: &random)))"),
            kind: TopicKind(["football", "made \"up\""].randomElement(using: &random) ?? ""),
            event: event ?? (Bool.random(using: &random) ? .update : .end), encoded: encoded,
            prominence: Prominence(hasBegun: hasBegun ?? Bool.random(using: &random)),
            short: ShortForms(compactLeading: text(6), compactTrailing: text(6), minimal: text(6)),
            stateSizeMax: .bytes(limit ?? [3072, max(encoded.bytes.count, 1024)].randomElement(using: &random) ?? 3072))
    }
}

extension Publication {
    fileprivate func limited(to bytes: Int) -> Publication {
        Publication.test(
            serial, of: topicID, kind: topicKind, version: version, event: event, encoded: state, priority: priority,
            alert: alert, prominence: prominence,
            short: ShortForms(compactLeading: "1", compactTrailing: "2", minimal: "3"), stateSizeMax: .bytes(bytes))
    }
}

/// Into a buffer that has been used before.
private func composed(_ display: LineupJSON.Display, highlighting highlighted: String? = nil) -> [UInt8] {
    var bytes = Array(#"{"topics":[]}"#.utf8)
    LineupJSON.compose(display, highlighting: highlighted, into: &bytes)
    return bytes
}
