import FanfareModel

/// Decoder for one Wyscout match, event by event, in the file's order.
///
/// The provider gives seconds of play within a period and marks neither half-time nor full time. So `at` is the kick-off plus the
/// time played plus assumed breaks: 15 minutes at half-time, 5 before extra time, none before the second half of extra time and
/// before the shoot-out, each counted from the period's last event. Only the event after it shows which one that was.
struct WyscoutDecoder: FeedDecoder {
    private let path: String
    private let match: FootballTopic
    private let document: WyscoutDocument
    private let sides: [Int64: Side]
    private let kickoff: FeedTime

    private var pending: ArraySlice<FeedItem> = []
    private var position = 0
    private var starts: [WyscoutDocument.Period: FeedTime] = [:]
    /// Latest event time so far.
    private var latest: FeedTime

    /// - Parameter kickoff: `nil` if it is unknown.
    init(path: String, document: WyscoutDocument, matchID: Int64, kickoff given: FeedTime?, sides: [Int64: Side]) {
        self.path = path
        self.document = document
        self.sides = sides
        kickoff = given ?? .undated
        match = FootballTopic(matchID: String(matchID))
        latest = kickoff
        func name(_ side: Side) -> String {
            document.teams.first { sides[$0.id] == side }?.name ?? (side == .home ? "Home" : "Away")
        }
        var items: [FeedItem] = []
        if given == nil {
            items.append(
                .noticed(
                    FeedNotice(
                        location: path,
                        text:
                            "no kick-off is known for match \(matchID): put \(Sidecar.wyscoutMetadata) beside the file or one "
                            + "folder up, or give a time as the option `kickoff`")))
        }
        items.append(
            .event(match.start(home: name(.home), away: name(.away), at: kickoff + FootballTopic.lead)))
        items += document.defects.map {
            .rejected(FeedRejection(location: "\(path)#\($0.number)", reason: $0.reason, topic: match.topic))
        }
        pending = items[...]
    }

    mutating func next() -> FeedItem? {
        if let item = pending.popFirst() { return item }
        guard position < document.rows.count else { return nil }
        let row = document.rows[position]
        position += 1
        if starts[row.period] == nil {
            pending.append(.event(begin(row.period)))
        }
        append(row)
        if position == document.rows.count {
            pending.append(.event(match.inferred(period: "FT", at: latest)))
        } else if let pause = pause(between: row.period, and: document.rows[position].period) {
            pending.append(.event(match.inferred(period: pause, at: latest)))
        }
        return pending.popFirst()
    }

    private mutating func begin(_ period: WyscoutDocument.Period) -> FeedEvent {
        let pause: Duration =
            switch period {
            case .firstHalf, .extraSecond, .shootout: .zero
            case .secondHalf: .seconds(15 * 60)
            case .extraFirst: .seconds(5 * 60)
            }
        let start = latest + pause
        starts[period] = start
        return match.inferred(period: period.code, at: start)
    }

    /// Returns the name of the break after a period's last event, or `nil` if none begins.
    private func pause(between period: WyscoutDocument.Period, and next: WyscoutDocument.Period) -> String? {
        guard starts[next] == nil else { return nil }
        return switch next {
        case .secondHalf: "HT"
        case .extraFirst: "ETB"
        case .firstHalf, .extraSecond, .shootout: nil
        }
    }

    private mutating func append(_ row: WyscoutDocument.Row) {
        let at = starts[row.period, default: kickoff] + .milliseconds(Int64((row.seconds * 1000).rounded()))
        guard at.isPlausible else {
            return reject(row, FeedTime.implausible(at.description))
        }
        latest = max(latest, at)
        let player = row.player.flatMap { document.players[$0] }
        guard let meaning = row.meaning else { return pending.append(.event(match.raw(row.kind, id: row.id, at: at))) }
        guard let side = row.team.flatMap({ sides[$0] }) else {
            return reject(row, "the event's `teamId` is neither of the two teams of the match")
        }
        let event: FeedEvent =
            switch meaning {
            case .goal(let penalty):
                match.goal(side, player: player, ownGoal: false, penalty: penalty, id: row.id, at: at)
            case .ownGoal: match.goal(side.other, player: player, ownGoal: true, penalty: false, id: row.id, at: at)
            case .card(let color): match.card(side, player: player, color, id: row.id, at: at)
            case .shootoutKick(let scored): match.shootoutKick(side, player: player, scored: scored, id: row.id, at: at)
            }
        pending.append(.event(event))
    }

    private mutating func reject(_ row: WyscoutDocument.Row, _ reason: String) {
        pending.append(.rejected(FeedRejection(location: "\(path)#\(row.number)", reason: reason, topic: match.topic)))
    }
}

extension WyscoutDocument.Period {
    /// Name of the period in content states.
    fileprivate var code: String {
        switch self {
        case .firstHalf: "1H"
        case .secondHalf: "2H"
        case .extraFirst: "ET1"
        case .extraSecond: "ET2"
        case .shootout: "PEN"
        }
    }
}
