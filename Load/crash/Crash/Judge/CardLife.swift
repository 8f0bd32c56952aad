/// Walk over what a card was sent, in order.
struct CardLife {
    private let history: History
    private let record: Record
    private let index: Int
    private let card: History.Card
    private let pushes: [Record.Push]
    private(set) var violations: [(text: String, life: Int)] = []
    private(set) var counts = CardCounts()
    private var numbers: [Int: Int] = [:]
    /// Life in which an alert came last, and its arrival, by topic and number.
    private var alerts: [[Int]: (life: Int, arrival: Int64)] = [:]
    private var last: Record.Push?
    private var ended: Record.Push?
    private var superfluous = 0
    /// Pushes for coming back, by what the card shows.
    private var returns: [[Int]: Int] = [:]

    init(card index: Int, _ history: History, _ record: Record) {
        (self.index, self.history, self.record) = (index, history, record)
        card = history.cards[index]
        pushes = record.pushes[index]
    }

    private mutating func complain(_ text: String, _ push: Record.Push) { violations.append((text, push.life)) }

    mutating func walk() {
        counts.starts = pushes.count { $0.event == .start }
        counts.pushes = counts.starts
        for push in pushes { judgeApp(push) }
        for push in pushes where push.event != .start {
            counts.pushes += 1
            judgeQuiet(push)
            if push.generation == Names.startGeneration { complain("a start token gets an update", push) }
            judgeStamp(push)
            judgeEnd(push)
            if push.event == .update { judgeUpdate(push) }
            judgeAlerts(push)
            last = push
        }
        noteRestarts()
    }

    /// Counts the restarts that found the card alive, of engines that serve its app.
    private mutating func noteRestarts() {
        guard let first = pushes.first?.life, let last = pushes.last?.life else { return }
        counts.restartsOfCards += (first..<last).count { history.serves(index, in: $0 + 1) }
    }

    private mutating func judgeApp(_ push: Record.Push) {
        if !history.serves(index, in: push.life) { complain("a push comes to a card whose app this life lacks", push) }
    }

    /// A planned stop has told what everybody has.
    private mutating func judgeQuiet(_ push: Record.Push) {
        guard history.lives.indices.contains(push.life), history.lives[push.life].isQuiet else { return }
        if push.content?.isLineup != true { complain("a start after a planned stop sends what everybody has", push) }
    }

    private mutating func judgeStamp(_ push: Record.Push) {
        guard let last else { return }
        if push.stamp < last.stamp { complain("the stamp goes back from \(last.stamp) to \(push.stamp)", push) }
        if push.stamp == last.stamp, push.event == .update, push.content != last.content {
            complain("another state under the stamp \(push.stamp)", push)
        }
    }

    private mutating func judgeEnd(_ push: Record.Push) {
        if let ended {
            if push.event != .end { return complain("something follows the end", push) }
            counts.endsAgain += 1
            if push.life == ended.life { complain("a second end in one life", push) }
        }
        guard push.event == .end else { return }
        counts.ends += 1
        let isOver =
            card.unfollowed != nil
            || card.shows.contains { show in show.value.contains { history.topics[$0].end != nil } }
        if !isOver { complain("an end that nobody asked for", push) }
        judgeEndedToken(push)
        self.ended = push
    }

    /// An end to a token that was replaced before anything could end the card leaves the card where it is.
    private mutating func judgeEndedToken(_ push: Record.Push) {
        let ends = card.shows.flatMap { $0.value.compactMap { history.topics[$0].end?.asked } }
        let asked = (ends + [card.unfollowed].compactMap(\.self)).min() ?? .max
        let reaches = card.tokens.contains { $0.value == push.generation && ($0.left ?? .max) > asked }
        if !reaches { complain("an end comes to a token that had been replaced", push) }
    }

    private mutating func judgeUpdate(_ push: Record.Push) {
        guard let content = push.content else { return complain("an update without a state", push) }
        for shown in content.shown {
            let topic = history.topics[shown.topic]
            guard let change = topic[shown.number] else {
                complain("\(topic.name) never was at \(shown.number)", push)
                continue
            }
            if let before = numbers[shown.topic], shown.number < before {
                complain("\(topic.name) goes back from \(before) to \(shown.number)", push)
            }
            numbers[shown.topic] = max(numbers[shown.topic] ?? 0, shown.number)
            if let pause = change.pause, change.kind != .end {
                let lifted = topic.pauses[pause].liftedNanoseconds.map { record.milliseconds($0, of: index) } ?? .max
                if push.arrival < lifted {
                    complain("\(shown.number) of \(topic.name) is shown though it is paused", push)
                }
            }
            judgeReach(push, shown, change, isLineup: content.isLineup)
            noteSilence(push, shown, change)
        }
        if content == last?.content, push.alerts.isEmpty, last?.event == .update {
            counts.superfluous += 1
            // Those of a restart are the card's first pushes in a life that found it alive.
            superfluous = last.map { $0.life < push.life } == true ? 1 : superfluous + 1
            if superfluous > CrashCosts.superfluousPerRestart, !takeReturn(to: content) {
                complain("a state is sent again to a card that has it", push)
            }
        } else {
            superfluous = CrashCosts.superfluousPerRestart
        }
    }

    /// A card that moves away and back before anything else has reached it gets what it shows once for the move.
    ///
    /// - Returns: `false` if it has not come back so often.
    private mutating func takeReturn(to content: Record.Content) -> Bool {
        let topics = content.shown.map(\.topic)
        let times = card.shows.count { $0.value == topics }
        guard returns[topics, default: 0] + 1 < times else { return false }
        returns[topics, default: 0] += 1
        return true
    }

    /// Nobody gets what was asked for after he had left, or his token was replaced.
    private mutating func judgeReach(
        _ push: Record.Push, _ shown: Record.Shown, _ change: History.Change, isLineup: Bool
    ) {
        let name = history.topics[shown.topic].name
        let follows = card.shows.contains { show in
            show.value.contains(shown.topic) && (show.value.count > 1) == isLineup && (show.left ?? .max) > change.asked
        }
        if !follows { complain("\(shown.number) of \(name) comes to a card that had left it", push) }
        let reaches = card.tokens.contains { $0.value == push.generation && ($0.left ?? .max) > change.asked }
        if !reaches { complain("\(shown.number) of \(name) comes to a token that had been replaced", push) }
    }

    /// Returns the preferences by which the card certainly wants no alert of a change when a push arrives; `nil` if it may want one.
    private func silence(_ change: History.Change, at push: Record.Push) -> History.Preference? {
        let possible = card.preferences(since: change.asked).filter {
            record.milliseconds($0.askedNanoseconds, of: index) <= push.arrival
        }
        return possible.contains { $0.wish.wantsAlerts } ? nil : possible.first
    }

    private mutating func noteSilence(_ push: Record.Push, _ shown: Record.Shown, _ change: History.Change) {
        guard change.kind == .alert, !change.isMuted, !push.alerts.contains(shown),
            let silence = silence(change, at: push)
        else { return }
        counts.silenced += 1
        let killed = history.lives.indices.contains(push.life - 1) ? history.lives[push.life - 1].killed : nil
        if let killed, let acknowledged = silence.acknowledged, acknowledged < killed {
            counts.silencedAfterRestarts += 1
        }
    }

    private mutating func judgeAlerts(_ push: Record.Push) {
        for alert in push.alerts {
            counts.alerts += 1
            let topic = history.topics[alert.topic]
            guard let change = topic[alert.number], change.kind == .alert else {
                complain("an alert \(alert.number) of \(topic.name), which has none", push)
                continue
            }
            if let before = alerts.updateValue((push.life, push.arrival), forKey: [alert.topic, alert.number]) {
                judgeRepeat(of: alert, after: before, push)
            }
            if change.isMuted { complain("alert \(alert.number) of \(topic.name), which was muted", push) }
            if silence(change, at: push) != nil {
                complain("alert \(alert.number) of \(topic.name) comes to a card that wants none", push)
            }
            let joined = card.shows.filter { $0.value.contains(alert.topic) }.map(\.asked).min() ?? .max
            if joined > change.acknowledged ?? .max {
                complain("alert \(alert.number) of \(topic.name) comes to a card that joined after it", push)
            }
        }
    }

    /// An alert may come again to a card to which a program sent it without a claim, because the disk took none for two seconds. Earlier alerts
    /// of the program have claims.
    private mutating func judgeRepeat(
        of alert: Record.Shown, after before: (life: Int, arrival: Int64), _ push: Record.Push
    ) {
        let unclaimed =
            history.lives.indices.contains(before.life) ? history.lives[before.life].unclaimedNanoseconds : nil
        if push.life > before.life, let unclaimed, before.arrival >= record.milliseconds(unclaimed, of: index) {
            counts.alertsRepeated += 1
        } else {
            complain("alert \(alert.number) of \(history.topics[alert.topic].name) twice", push)
        }
    }
}
