import FanfareLineup
import Foundation
import Testing

/// A content state of a lineup, as an app and its backend read it.
@Suite struct LineupContentStateTests {
    private struct Match: TopicContentState {
        var homeScore: Int
    }

    private struct Trip: TopicContentState {
        var line: String
    }

    private enum Either: TopicContentState {
        case match(Match)
        case trip(Trip)

        init(ofKind kind: String, from decoder: any Decoder) throws {
            self = kind == "football" ? .match(try Match(from: decoder)) : .trip(try Trip(from: decoder))
        }
    }

    private static let topics = #"""
        "topics":[\#
        {"compactLeading":"TOT 2","compactTrailing":"1 LEI","id":"match/1","kind":"football","minimal":"2–1"},\#
        {"compactLeading":"A","compactTrailing":"3","id":"trip/A","kind":"transit","minimal":"A 3"}]
        """#
    private static let goal = #"""
        {"highlight":"homeScore","link":"app://match/1","spotlight":{"index":0,"kind":"football",\#
        "state":{"deepLink":"app://match/1","highlight":"homeScore","homeScore":2}},\#(topics)}
        """#

    private func decoded<State: TopicContentState>(
        _ json: String, _ type: State.Type
    ) throws -> LineupContentState<State> {
        try JSONDecoder().decode(LineupContentState<State>.self, from: Data(json.utf8))
    }

    @Test func aStateOfOneKindSaysNoMoreThanItsMembers() throws {
        let lineup = try decoded(Self.goal, Match.self)
        #expect(lineup.spotlight?.state == Match(homeScore: 2))
        #expect(lineup.topics.map(\.minimal) == ["2–1", "A 3"])
        #expect(lineup.link == "app://match/1" && lineup.highlight == "homeScore" && lineup.more == 0)
    }

    @Test func aStateOfSeveralKindsIsReadByTheKindInTheSpotlight() throws {
        let goal = try decoded(Self.goal, Either.self)
        #expect(goal.spotlight?.state == .match(Match(homeScore: 2)))
        let json = #"{"spotlight":{"index":1,"kind":"transit","state":{"line":"A"}},\#(Self.topics)}"#
        let arrival = try decoded(json, Either.self)
        #expect(arrival.spotlight?.state == .trip(Trip(line: "A")))
        #expect(arrival.link == nil && arrival.highlight == nil)
    }

    @Test func anAbsentMemberStaysAbsentWhenTheStateIsEncodedAgain() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let without = "{\(Self.topics)}"
        let lineup = try decoded(without, Match.self)
        #expect(lineup.spotlight == nil)
        let encoded = try encoder.encode(lineup)
        #expect(String(decoding: encoded, as: UTF8.self) == without)
    }

    @Test func aNumberOfTopicsThatAreLeftOutIsKept() throws {
        var lineup = try decoded(Self.goal, Match.self)
        lineup.more = 3
        let encoded = try JSONEncoder().encode(lineup)
        let again = try decoded(String(decoding: encoded, as: UTF8.self), Match.self)
        #expect(again == lineup)
    }
}
