import FanfareFanOut
import FanfareLineup
import FanfareModel
import Foundation

/// A football match as an app declares it, to read a lineup's spotlight and a publication.
struct Match: TopicContentState {
    var home: String?
    var away: String?
    var homeScore: Int
    var awayScore: Int
    var homeYellow: Int
    var awayYellow: Int
    var homeRed: Int
    var awayRed: Int
    var period: String
    var periodStartedAt: Double?
    var kickOff: Double?
    var lastEvent: String?
    var highlight: String?

    init?(_ publication: Publication, highlighting highlight: String? = nil) {
        guard var match = try? JSONDecoder().decode(Match.self, from: Data(publication.state.bytes)) else { return nil }
        // A state without a highlight stays so, because the alert may be of another tenure.
        if match.highlight != nil { match.highlight = highlight ?? match.highlight }
        self = match
    }
}

extension LineupContentState<Match> {
    /// Reads a payload; `nil` if it is not a lineup.
    init?(_ payload: Payload) {
        guard let content = try? JSONDecoder().decode(Self.self, from: Data(payload.state)) else { return nil }
        self = content
    }

    /// Topic in the spotlight.
    var spotlightTopic: TopicID? { spotlight.map { TopicID(topics[$0.index].id) } }

    /// Copy without the highlight, which follows the alert of the push.
    var withoutHighlight: Self {
        var copy = self
        copy.highlight = nil
        copy.spotlight?.state.highlight = nil
        return copy
    }

    /// Kinds of the rows and of the spotlight.
    var kinds: Set<String> { Set(topics.map(\.kind) + (spotlight.map { [$0.kind] } ?? [])) }
}

extension Publication {
    /// Is `true` if a lineup's row shows this version: `HOM 2`, `1 AWA`, `2–1`, made from the state and not by the engine's short forms.
    func isIn(_ row: LineupContentState<Match>.Topic) -> Bool {
        guard let match = Match(self) else { return false }
        // A score of two digits costs the name a letter, because `HOM 10` is wider than six digits.
        func name(_ name: String, beside score: Int) -> Substring { name.prefix(score < 10 ? 3 : 2) }
        let home = name("HOM", beside: match.homeScore)
        let away = name("AWA", beside: match.awayScore)
        return row.compactLeading == "\(home) \(match.homeScore)"
            && row.compactTrailing == "\(match.awayScore) \(away)"
            && row.minimal == "\(match.homeScore)–\(match.awayScore)" && row.id == topicID.rawValue
    }
}
