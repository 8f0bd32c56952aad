import FanfareLineup
import FanfareModel
import Foundation

/// A league table as an app declares it, shown by the season's lineups.
private struct Table: TopicContentState {
    var status: String
}

/// Reads lineups as an app does.
enum LineupReading {
    /// - Returns: the first difference between a lineup's state and the newest versions of its topics, or `nil`.
    static func staleness(ofLineup state: [UInt8], showing newest: [Publication]) -> String? {
        guard let lineup = try? JSONDecoder().decode(LineupContentState<Table>.self, from: Data(state)) else {
            return "no lineup: \(String(decoding: state, as: UTF8.self))"
        }
        guard lineup.topics.map(\.id) == newest.map(\.topicID.rawValue), lineup.more == 0,
            let spotlight = lineup.spotlight
        else { return "topics \(lineup.topics.map(\.id)) in a lineup of \(newest.map(\.topicID))" }
        for (row, publication) in zip(lineup.topics, newest) {
            guard let table = try? JSONDecoder().decode(Table.self, from: Data(publication.state.bytes)) else {
                return "no table: \(String(decoding: publication.state.bytes, as: UTF8.self))"
            }
            if row.compactTrailing != table.status {
                return "\(row.compactTrailing) for \(row.id), not \(table.status)"
            }
            if lineup.topics[spotlight.index].id == row.id, spotlight.state != table {
                return "\(spotlight.state.status) in the spotlight, not \(table.status)"
            }
        }
        return nil
    }
}
