import FanfareFeeds
import FanfareLog
import FanfareModel

/// Rows of people that cannot be read: the first ones are reported with their places, which name no person.
struct RowFaults {
    private(set) var count = 0
    private static let reportedMax = 10

    mutating func note(_ error: SerialError, _ key: CardKey) {
        count += 1
        if count <= RowFaults.reportedMax {
            Console.complain("card \(key.serial) of slice \(key.slice): \(error); \(error.remedy)")
        }
        if count == RowFaults.reportedMax { Console.complain("further damaged cards are counted only") }
    }
}

/// Result of an export, and its lines.
struct ExportTally {
    private var cards = 0
    private var leaving = 0
    private var unwritable = 0
    private var faults = RowFaults()

    var isWhole: Bool { unwritable == 0 && faults.count == 0 }

    mutating func write(_ found: Result<Card, SerialError>, _ key: CardKey, to bytes: inout [UInt8]) {
        switch found {
        case .failure(let error): faults.note(error, key)
        case .success(let card):
            guard card.phase == .shown else {
                leaving += 1
                return
            }
            let names = SubscriberNames(activity: card.activity, subscriber: card.subscriber)
            if SubscriberFile.write(card.subscription(), names, to: &bytes) { cards += 1 } else { unwritable += 1 }
        }
    }

    var text: String {
        var parts = ["exported \(cards.counted("card"))"]
        if leaving > 0 { parts.append("\(leaving.grouped) that are starting or leaving were left out") }
        if unwritable > 0 { parts.append("\(unwritable.grouped) have ids that a line cannot have, and were left out") }
        if faults.count > 0 { parts.append("\(faults.count.grouped) are damaged") }
        return parts.joined(separator: "; ")
    }
}

/// Figures of all cards. Memory does not grow with their number.
struct PeopleTally {
    private var cards = 0
    private var lineups = 0
    private var preferences = 0
    private var phases: [Card.Phase: Int] = [:]
    private var apps: [AppID?: Int] = [:]
    private var otherApps = 0
    private var started: (first: FeedTime, last: FeedTime)?
    private(set) var damaged = 0
    /// Maximum number of apps that are counted one by one; an engine pushes to no more.
    private static let appsMax = 32

    mutating func note(_ found: Result<Card, SerialError>) {
        guard case .success(let card) = found else {
            damaged += 1
            return
        }
        cards += 1
        if case .lineup = card.audience { lineups += 1 }
        if card.preferences != nil { preferences += 1 }
        phases[card.phase, default: 0] += 1
        if apps[card.app] != nil || apps.count < PeopleTally.appsMax {
            apps[card.app, default: 0] += 1
        } else {
            otherApps += 1
        }
        started = (
            min(started?.first ?? card.startedAt, card.startedAt), max(started?.last ?? card.startedAt, card.startedAt)
        )
    }

    var text: String {
        var lines = [("cards", cards.grouped)]
        for phase in Card.Phase.allCases where phases[phase, default: 0] > 0 && phase != .shown {
            lines.append(("  \(phase)", phases[phase, default: 0].grouped))
        }
        lines += [("lineups", lineups.grouped), ("with preferences", preferences.grouped)]
        let named = apps.compactMap { app, count in app.map { ("app \($0)", count.grouped) } }
        lines += named.sorted { $0.0 < $1.0 }
        if otherApps > 0 { lines.append(("other apps", otherApps.grouped)) }
        if let started { lines.append(("began", "from \(started.first) to \(started.last)")) }
        if damaged > 0 { lines.append(("damaged", "\(damaged.grouped); `fanfare people check` names them")) }
        let width = (lines.map(\.0.count).max() ?? 0) + 2
        return lines.map { $0.0 + String(repeating: " ", count: width - $0.0.count) + $0.1 + "\n" }.joined()
    }
}
