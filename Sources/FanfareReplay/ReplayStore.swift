import FanfareDecisions
import FanfareFeeds
import FanfareLog
import FanfareLoop
import FanfareModel

/// Store of a replay: a folder with the log of everything that was decided.
package struct StoreOptions: Sendable {
    package var folder: String
    /// The replay's rules as a rules file (`Rules.toml`). In a folder that was written under other rules they hold from its end on.
    package var rules: String

    package init(folder: String, rules: String) {
        self.folder = folder
        self.rules = rules
    }
}

/// Makes what a replay takes durable before it is decided, and gives back what an earlier run has taken. Confined to the replay's loop.
final class ReplayStore {
    private let log: any Log
    private let rules: String
    private let isLive: Bool
    /// What is being made durable. The replay takes nothing meanwhile.
    let commits: CommitQueue
    /// Place of the last item taken from a recorded feed.
    private var place: UInt64 = 0
    private(set) var recalled = 0

    /// - Parameter log: a log that this object alone uses from here on.
    init(_ log: any Log, rules: String, isLive: Bool, loop: Loop) throws {
        self.log = log
        self.rules = rules
        self.isLive = isLive
        commits = try CommitQueue(log, loop: loop)
    }

    // MARK: - Recall

    /// Reads what earlier runs have taken, before anything is appended.
    ///
    /// - Parameters:
    ///   - source: moves behind the items that the log has.
    ///   - adopt: called with the text of rules, and with that of the present ones.
    ///   - report: called with lines for operators.
    ///   - body: called with each other entry, in order.
    func recall(
        from source: inout any ReplaySource,
        adopt: (LogPosition, String, FeedTime, _ present: String) throws(LogError) -> Void,
        report: (String) -> Void, _ body: (LogEntry) -> Void
    ) throws(LogError) {
        let rules = LogRules(text: rules, decisionVersion: DecisionCore.version)
        try log.recall(
            under: rules,
            adopt: { (position, text, now) throws(LogError) in try adopt(position, text, now, rules.text) },
            report: report,
            { (position, entry) throws(LogError) in
                try follow(entry, at: position, in: &source)
                recalled += 1
                body(entry)
            })
    }

    /// Moves the source behind an entry's item, which must be the item that the log has.
    private func follow(_ entry: LogEntry, at position: LogPosition, in source: inout any ReplaySource) throws(LogError)
    {
        guard entry.place > 0 else {
            guard !isLive, entry.isOfFeed else { return }
            throw LogError("the store was written from standard input; give the replay of files a new folder")
        }
        while place < entry.place, let (_, item) = source.peek() {
            source.advance()
            place += 1
            guard place == entry.place else { continue }
            if entry.skippedAt != nil { return }
            switch (item, entry.body) {
            case (.event(let event), .event(let logged, _)) where event == logged: return
            case (.rejected(let rejection), .rejection(let logged)) where rejection == logged: return
            default: break
            }
            break
        }
        throw LogError(
            "item \(entry.place) of the feed is not the one that the store has as entry \(position); give the feed that the "
                + "store was written from, or a new folder")
    }

    // MARK: - Appending

    /// Returns the entry of an item that has just been taken from the source; `nil` for a notice, which changes nothing.
    func entry(of item: FeedItem, now: FeedTime, wall: FeedTime?) -> LogEntry? {
        place += 1
        let place = isLive ? 0 : place
        return switch item {
        case .event(let event): LogEntry(now: now, place: place, .event(event, wall: wall))
        case .rejected(let rejection): LogEntry(now: now, place: place, .rejection(rejection))
        case .noticed: nil
        }
    }
}

extension LogEntry {
    /// Is `true` for an entry that an item of a feed made.
    fileprivate var isOfFeed: Bool {
        switch body {
        case .event, .rejection: true
        case .rules, .tick, .feedEnd: false
        }
    }
}
