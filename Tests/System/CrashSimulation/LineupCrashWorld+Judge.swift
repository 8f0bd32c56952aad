import FanfareFanOut
import FanfareLog
import FanfareModel
import FanfareTestSupport

/// The judgement of pushes, and of what cards and the store have after a calm.
extension LineupCrashWorld {
    /// Returns whether the topic was dismissed before this life.
    func wasDismissed(_ topic: TopicID) -> Bool { logged.isDismissed(topic, by: rule, before: recall) }

    private func latestDismissal(of topic: TopicID) -> FeedTime? {
        logged.latestDismissal(of: topic, by: rule, since: recall)
    }

    func judge(_ push: WorldNetwork.Flight) {
        guard let index = byToken[push.token] else { return complain("a push to nobody") }
        tell("\(push.event) to phone \(index): \(String(decoding: push.state, as: UTF8.self))")
        phones[index].pushes += 1
        if phones[index].hasEnded, push.event == .update { complain("phone \(index) gets an update after its end") }
        // The end of a lineup is a summary, which shows topics that were dismissed before, too.
        guard push.event == .update else {
            phones[index].endHasLeft = true
            return
        }
        logged.read(disk.log)
        judgeComebacks(LineupRows(push.state), on: index)
    }

    /// Checks that the push shows no row that had gone from the card, and none of a topic that was dismissed before this life. The last topic keeps the
    /// spotlight only while no other one goes on.
    private func judgeComebacks(_ rows: LineupRows, on index: Int) {
        // A version with an event of this life was made in this life, after the recall.
        let hasLive = rows.topics.contains { topic in
            logged.endedAt[topic] == nil && rows[topic].flatMap { Int($0) }.map { $0 > before } ?? false
        }
        for topic in rows.topics where topic != rows.spotlight || hasLive {
            if phones[index].isSettled, phones[index].gone.contains(topic) {
                complain("phone \(index) gets the row of \(topic) again, which had gone")
            }
            if wasDismissed(topic) {
                complain("phone \(index) gets the row of \(topic), which was dismissed before this life")
            }
        }
    }

    func show(_ push: WorldNetwork.Flight) {
        guard let index = byToken[push.token] else { return }
        phones[index].state = push.state
        if push.event == .end { phones[index].isOver = true }
        for alert in push.alerts where !phones[index].alerts.insert(alert).inserted && push.event == .update {
            complain("phone \(index) gets alert \(alert) twice")
        }
        guard push.event == .update, let selection = phones[index].selections.last else { return }
        let rows = LineupRows(push.state)
        for topic in selection.audience.topics where rows[topic] == nil {
            guard let dismissal = latestDismissal(of: topic), dismissal + Self.slack < clock.truth else { continue }
            phones[index].gone.insert(topic)
        }
    }

    /// The durable card of each phone, by its number.
    private func cards() -> [(index: Int, card: Card)] {
        var found: [(index: Int, card: Card)] = []
        try? disk.people.read { (_, row) throws(LogError) in
            if case .success(let card) = row, let index = byToken[card.token] { found.append((index, card)) }
            return true
        }
        return found
    }

    /// Checks that the store has the last selection that it has acknowledged, or a later one, and each card that it had and whose end has not left.
    func judgeSelections() {
        let cards = cards()
        let found = Set(cards.map { $0.index })
        for (index, phone) in phones.enumerated() where phone.wasKept && !phone.endHasLeft && !found.contains(index) {
            complain("phone \(index) has had no end, and its row is gone")
        }
        for (index, card) in cards {
            phones[index].wasKept = true
            let selections = phones[index].selections
            let kept = selections.lastIndex { $0.isKept.isSet } ?? 0
            guard selections[kept...].contains(where: { $0.audience == card.audience }) else {
                complain(
                    "phone \(index) has \(card.audience) in the store, which has acknowledged \(selections[kept].audience)"
                )
                continue
            }
        }
    }

    /// Checks that each card shows what the topics of its lineup do.
    func judgeCards(calmSince since: FeedTime) {
        for (index, card) in cards() where card.phase == .shown && !phones[index].isOver {
            let topics = card.audience.topics
            let ends = topics.compactMap { logged.endedAt[$0] }
            guard ends.count < topics.count else {
                judgeEnd(of: card, on: index, ends)
                continue
            }
            // People have selected something else beside the end.
            guard !phones[index].endHasLeft else { continue }
            let rows = LineupRows(phones[index].state)
            let hasLive = topics.contains { logged.newest[$0] != nil && logged.endedAt[$0] == nil }
            for topic in topics {
                judgeRow(of: topic, in: rows, on: index, mayStay: !hasLive, calmSince: since)
            }
            judgeSpotlight(rows, of: card, on: index, calmSince: since)
        }
    }

    /// Checks that each card shows what the live topics of its lineup do, also after a stop, which ends rotations.
    func judgeLiveRows() {
        for (index, card) in cards() where card.phase == .shown && !phones[index].endHasLeft {
            let rows = LineupRows(phones[index].state)
            for topic in card.audience.topics where logged.endedAt[topic] == nil {
                judgeRow(of: topic, in: rows, on: index, mayStay: true, calmSince: clock.truth)
            }
        }
    }

    /// Checks that the card has its end if it showed the lineup before all topics were over.
    private func judgeEnd(of card: Card, on index: Int, _ ends: [FeedTime]) {
        guard phones[index].isSettled, !phones[index].state.isEmpty, let last = ends.max(),
            card.joinedAt.map({ $0 < last }) ?? true
        else { return }
        complain("phone \(index) lacks the end of \(card.audience)")
    }

    /// - Parameter mayStay: `true` if no topic of the lineup is live: then a dismissed row stays until something happens.
    private func judgeRow(
        of topic: TopicID, in rows: LineupRows, on index: Int, mayStay: Bool, calmSince since: FeedTime
    ) {
        guard let newest = logged.newest[topic] else { return }
        guard let dismissal = logged.dismissal(of: topic, by: rule), let latest = latestDismissal(of: topic) else {
            met[.liveRows] += 1
            if rows[topic] != newest {
                complain("phone \(index) shows \(rows[topic] ?? "nothing") of \(topic), and not \(newest)")
            }
            return
        }
        guard phones[index].isSettled else { return }
        // Log time is never ahead of the true clock.
        if dismissal > clock.truth + Self.slack {
            met[.endedRows] += 1
            if rows[topic] == nil { complain("phone \(index) lacks the row of \(topic), which is not dismissed yet") }
        } else if rows[topic] == nil {
            met[wasDismissed(topic) ? .goneBefore : .goneRows] += 1
        } else if !mayStay, isOfLife(latest, topic), latest + Self.slack < since, isLong(since) {
            complain("phone \(index) keeps the row of \(topic), which was dismissed")
        }
    }

    /// Returns whether the row of a topic that ended leaves lineups in this life, and not with the recall.
    private func isOfLife(_ dismissal: FeedTime, _ topic: TopicID) -> Bool {
        recall.truth + Self.slack < dismissal || logged.endedAt[topic].map { recall.log < $0 } ?? false
    }

    private func judgeSpotlight(_ rows: LineupRows, of card: Card, on index: Int, calmSince since: FeedTime) {
        guard case .lineup(_, let favourite?) = card.audience, logged.newest[favourite] != nil,
            logged.endedAt[favourite] == nil, isLong(since)
        else { return }
        met[.favourites] += 1
        if rows.spotlight != favourite {
            complain(
                "the spotlight of phone \(index) is on \(rows.spotlight?.rawValue ?? "nothing"), and not on the favourite \(favourite)"
            )
        }
    }

    /// Returns whether the calm has been long enough for a push of each rotation.
    private func isLong(_ since: FeedTime) -> Bool { clock.truth - since > .seconds(90) }
}
