/// Compares what phones were sent with what was asked for and acknowledged, card by card over all lives.
///
/// It compares orders, not times: what was asked for after an acknowledgement follows it in the engine, too. Times say only in which life
/// a push arrived, that it did not arrive before its cause, and that it had arrived when the engine said so.
package struct CrashJudge {
    let history: History
    let record: Record
    private let seed: UInt64
    package private(set) var findings = Findings()

    package init(_ history: History, _ record: Record, seed: UInt64) {
        (self.history, self.record, self.seed) = (history, record, seed)
    }

    package mutating func judge() -> Findings {
        for text in history.complaints + record.complaints { findings.complain("seed \(seed): \(text)") }
        for card in history.cards.indices {
            var life = CardLife(card: card, history, record)
            life.walk()
            take(life.violations, of: card)
            findings.cards.add(life.counts)
            take(judgeStart(of: card), of: card)
            take(judgeConfirmation(of: card), of: card)
            take(judgeArrivals(of: card), of: card)
            take(judgeEnd(of: card), of: card)
        }
        let followers = followers
        judgeAlertsAtKills(of: followers)
        countAlertsOfAbsences(of: followers)
        return findings
    }

    private mutating func take(_ violations: [(text: String, life: Int)], of card: Int) {
        for violation in violations {
            let life = history.lives.indices.contains(violation.life) ? history.lives[violation.life] : nil
            let before = violation.life > 0 ? history.lives[violation.life - 1].phases : []
            let token = Names.hash(of: Names.token(card: card, generation: history.cards[card].tokens.last?.value ?? 0))
            findings.complain(
                "seed \(seed) round \(life?.round ?? 0) life \(violation.life) (the one before was killed in "
                    + "\(before.isEmpty ? "no phase" : before.map { "\($0)" }.joined(separator: ", "))), card \(card) token \(token): "
                    + violation.text,
                history: Story(history: history, record: record).lines(of: card, around: violation.life))
        }
    }

    // MARK: Starts

    /// A start leaves once at most, in whatever life, and not after one has told that it may have left. One that was acknowledged leaves, or is told.
    private mutating func judgeStart(of card: Int) -> [(text: String, life: Int)] {
        let starts = record.pushes[card].filter { $0.event == .start }
        guard let start = history.cards[card].start else {
            return starts.map { ("a start that nobody asked for", $0.life) }
        }
        var found: [(text: String, life: Int)] = []
        if starts.count > 1 { found.append(("\(starts.count) starts", starts[1].life)) }
        if let first = starts.first {
            if let told = start.uncertain, first.life >= told {
                found.append(("a start leaves after life \(told) has given it up", first.life))
            }
            if first.life > start.life { findings.startsAfterRestarts += 1 }
        }
        let topic = history.topics[history.cards[card].shows[0].value[0]]
        if let told = start.uncertain {
            findings.startsUncertain += 1
            if starts.isEmpty { findings.startsLost += 1 }
            let killed = history.lives.indices.contains(told - 1) ? history.lives[told - 1].killed : nil
            if starts.isEmpty, let killed, !topic.changes.contains(where: { $0.asked < killed }) {
                found.append(("a start is given up whose topic had nothing to show", told))
            }
        }
        // Once everything has arrived, the start has, too, if there was something to show and nothing has ended.
        for settled in history.settlements where start.acknowledged.map({ $0 < settled.asked }) == true {
            let hasState = topic.changes.contains { change in
                change.acknowledged.map { $0 < settled.asked } == true && change.pause == nil
            }
            guard settled.life < start.uncertain ?? .max, hasState, history.serves(card, in: settled.life),
                topic.end.map({ $0.asked > settled.acknowledged }) ?? true,
                !isPaused(topic, during: start.asked...settled.acknowledged),
                !starts.contains(where: { $0.arrival <= record.milliseconds(settled.nanoseconds, of: card) })
            else { continue }
            found.append(("a start was acknowledged, everything settled, and it has not left", settled.life))
            break
        }
        return found
    }

    /// A confirmation that was acknowledged is known to all later lives: none gives the start up, and the card gets what its topic shows.
    private mutating func judgeConfirmation(of index: Int) -> [(text: String, life: Int)] {
        let card = history.cards[index]
        guard let start = card.start, let confirmed = start.confirmed else { return [] }
        findings.cards.confirmations += 1
        if record.pushes[index].contains(where: { $0.event == .update && $0.life > confirmed.life }) {
            findings.cards.confirmationsAfterRestarts += 1
        }
        var found: [(text: String, life: Int)] = []
        if let told = start.uncertain, told > confirmed.life {
            found.append(("a start was confirmed in life \(confirmed.life), and this one gives it up", told))
        }
        let hasUpdate = record.pushes[index].contains { $0.event != .start }
        let isLeaving = card.unfollowed != nil || card.shows.count > 1
        let topic = history.topics[card.shows[0].value[0]]
        let first = record.pushes[index].first?.content?.shown.first?.number ?? 0
        guard !hasUpdate, !isLeaving, topic.end == nil, topic.pauses.isEmpty else { return found }
        for settled in history.settlements
        where settled.asked > confirmed.tick && history.serves(index, in: settled.life) {
            let newest = topic.changes.lastIndex { ($0.acknowledged ?? .max) < settled.asked } ?? -1
            guard newest + 1 > first else { continue }
            found.append(("a start was confirmed, everything settled, and no update has come", settled.life))
            break
        }
        return found
    }

    // MARK: Arrivals

    /// Is `true` if a pause may have held something back in that part of the order.
    private func isPaused(_ topic: History.Topic, during part: ClosedRange<History.Tick>) -> Bool {
        topic.pauses.contains { $0.asked <= part.upperBound && ($0.over ?? .max) >= part.lowerBound }
    }

    /// When the engine says that everything has arrived, the card has the newest acknowledged number and alert of what it certainly shows.
    private mutating func judgeArrivals(of card: Int) -> [(text: String, life: Int)] {
        var found: [(text: String, life: Int)] = []
        var next = 0
        var newest: [Int: Int] = [:]
        var newestAlert: [Int: Int] = [:]
        let pushes = record.pushes[card]
        for settlement in history.settlements where history.serves(card, in: settlement.life) {
            let time = record.milliseconds(settlement.nanoseconds, of: card)
            while next < pushes.count, pushes[next].arrival <= time {
                for shown in pushes[next].content?.shown ?? [] {
                    newest[shown.topic] = max(newest[shown.topic] ?? 0, shown.number)
                }
                for alert in pushes[next].alerts {
                    newestAlert[alert.topic] = max(newestAlert[alert.topic] ?? 0, alert.number)
                }
                next += 1
            }
            guard
                let show = history.cards[card].shows.last(where: {
                    ($0.acknowledged ?? .max) < settlement.asked && ($0.leaving ?? .max) > settlement.acknowledged
                })
            else { continue }
            for topic in show.value {
                if isOfAbsence(topic, for: card, at: settlement) { findings.checkedAfterAbsences += 1 }
                found += judge(topic, of: card, at: settlement, show, newest[topic] ?? 0, newestAlert[topic] ?? 0)
            }
        }
        return found
    }

    /// Is `true` if the newest change of a topic was acknowledged in a life that lacked the card's app.
    private func isOfAbsence(_ topic: Int, for card: Int, at settlement: History.Settlement) -> Bool {
        let newest = history.topics[topic].changes.last { ($0.acknowledged ?? .max) < settlement.asked }
        guard history.topics[topic].end == nil, let life = newest?.life else { return false }
        return !history.serves(card, in: life)
    }

    private mutating func judge(
        _ index: Int, of card: Int, at settlement: History.Settlement, _ show: History.Span<[Int]>, _ number: Int,
        _ alert: Int
    ) -> [(text: String, life: Int)] {
        let topic = history.topics[index]
        guard topic.end.map({ $0.asked > settlement.acknowledged }) ?? true,
            !isPaused(topic, during: settlement.asked...settlement.acknowledged)
        else { return [] }
        findings.checkedAtSettlements += 1
        var found: [(text: String, life: Int)] = []
        let changes = topic.changes
        let wanted = changes.lastIndex { ($0.acknowledged ?? .max) < settlement.asked }.map { $0 + 1 } ?? 0
        if number < wanted {
            found.append(
                (
                    "\(topic.name) is acknowledged at \(wanted), everything settled, and the card has \(number)",
                    settlement.life
                ))
        }
        // Alerts of an earlier life may be lost, and a lineup's may be gathered.
        let alerted = changes.lastIndex {
            $0.kind == .alert && !$0.isMuted && ($0.acknowledged ?? .max) < settlement.asked
                && $0.life == settlement.life
                && $0.asked > show.acknowledged ?? .max && $0.pause == nil
                && $0.asked > killBefore(settlement.life)
        }
        if let alerted, show.value.count == 1, alert < alerted + 1,
            history.cards[card].wantsAlerts(during: changes[alerted].asked...settlement.acknowledged)
        {
            found.append(
                (
                    "alert \(alerted + 1) of \(topic.name) is acknowledged, everything settled, and the card has \(alert)",
                    settlement.life
                ))
        }
        return found
    }

    private func killBefore(_ life: Int) -> History.Tick { life > 0 ? history.lives[life - 1].killed ?? 0 : 0 }

    // MARK: The end

    /// After the last life each card has what it may have, by what was acknowledged.
    private mutating func judgeEnd(of index: Int) -> [(text: String, life: Int)] {
        let card = history.cards[index]
        let last = history.lives.count - 1
        let pushes = record.pushes[index].filter { $0.event != .start }
        let hasEnded = pushes.contains { $0.event == .end }
        // A card of an app that is away may be left out of the numbers.
        if !card.shows.isEmpty { findings.checkedCards += 1 }
        if card.isUnfollowAcknowledged {
            // A card that had ended by itself needs no other end, and one that never showed anything has none to get.
            return hasEnded ? [] : [("an unfollow was acknowledged, and no end has come", last)]
        }
        let open = card.shows.filter { $0.left == nil }
        let isCertain = open.count == 1 && open[0].acknowledged != nil && card.unfollowed == nil
        let fits = open.contains { fitsEnd(pushes, $0.value, index) }
        if fits || !isCertain && pushes.isEmpty && !card.shows.contains(where: { $0.acknowledged != nil }) { return [] }
        if card.start != nil, card.tokens.isEmpty || card.tokens[0].acknowledged == nil { return [] }
        let story = Story(history: history, record: record)
        let wanted = open.map { $0.value.map { "\(history.topics[$0].name) at \(history.topics[$0].changes.count)" } }
        return [
            (
                "at the end the card should show one of \(wanted), and its last push was \(pushes.last.map(story.text) ?? "none")",
                last
            )
        ]
    }

    /// Is `true` if a card that shows these topics has what it should have at the end.
    private func fitsEnd(_ pushes: [Record.Push], _ topics: [Int], _ card: Int) -> Bool {
        if topics.count == 1, history.mayLackEnd(of: topics[0], on: card) { return true }
        guard let last = pushes.last else { return topics.allSatisfy { history.topics[$0].changes.isEmpty } }
        if topics.count == 1, history.topics[topics[0]].end != nil { return pushes.contains { $0.event == .end } }
        guard last.event == .update, let content = last.content, content.shown.map(\.topic).sorted() == topics.sorted(),
            history.cards[card].tokens.contains(where: { $0.value == last.generation && $0.left == nil })
        else { return false }
        return content.shown.allSatisfy { $0.number == history.topics[$0.topic].changes.count }
    }

    // MARK: Alerts at kills

    /// Cards that have certainly followed a topic at some time, by topic.
    private var followers: [[Int]] {
        var followers: [[Int]] = Array(repeating: [], count: history.topics.count)
        for (index, card) in history.cards.enumerated() {
            for show in card.shows where show.value.count == 1 && show.acknowledged != nil {
                followers[show.value[0]].append(index)
            }
        }
        return followers
    }

    /// Counts those whom a kill has cost the newest alert of a topic.
    private mutating func judgeAlertsAtKills(of followers: [[Int]]) {
        for (life, ended) in history.lives.enumerated() {
            guard let killed = ended.killed else { continue }
            let settled = history.settlements.last { $0.life == life }?.asked ?? killBefore(life)
            for (index, topic) in history.topics.enumerated() {
                guard
                    let place = topic.changes.lastIndex(where: {
                        $0.life == life && $0.kind == .alert && $0.acknowledged != nil
                    }),
                    topic.changes[place].asked > settled, topic.changes[place].acknowledged! < killed,
                    !topic.changes[place].isMuted, topic.changes[place].pause == nil
                else { continue }
                for app in CardApp.allCases {
                    count(place + 1, of: index, followers[index].filter { CardApp(card: $0) == app }, killedIn: life)
                }
            }
        }
    }

    /// - Parameter followers: those of one app, whose shards make their claims for themselves.
    private mutating func count(_ number: Int, of topic: Int, _ followers: [Int], killedIn life: Int) {
        let change = history.topics[topic].changes[number - 1]
        // Until everything has arrived in a later life.
        let until = history.settlements.first { $0.life > life }
        // Nobody promises that an alert waits for the return of an app.
        let lives = life...(until?.life ?? life)
        let part = change.asked...(until?.acknowledged ?? change.asked)
        let certain = followers.filter { card in
            lives.allSatisfy { history.serves(card, in: $0) }
                && history.cards[card].wantsAlerts(during: part)
                && history.cards[card].shows.contains {
                    $0.value == [topic] && ($0.acknowledged ?? .max) < change.asked
                        && ($0.leaving ?? .max) > until?.acknowledged ?? 0
                }
        }
        guard let until, !certain.isEmpty, history.topics[topic].end.map({ $0.asked > until.acknowledged }) ?? true
        else { return }
        let lost = certain.count { card in
            !record.pushes[card].contains { $0.alerts.contains { $0.topic == topic && $0.number >= number } }
        }
        findings.alertsAtKills += certain.count
        findings.alertsLost += lost
        findings.alertsLostAtOnce = max(findings.alertsLostAtOnce, lost)
        let allowed = CrashCosts.alertsLost(
            followers: certain.count, shards: Program.Options.shards,
            flying: Program.Options.shards * Program.Options.connectionsPerShard * 100)
        if lost > allowed {
            findings.complain(
                "seed \(seed) life \(life): \(lost) of \(certain.count) lack alert \(number) of \(history.topics[topic].name), \(allowed) may"
            )
        }
    }

    // MARK: Alerts of absences

    /// Counts those whose app was away in the life that has acknowledged the newest alert of their topic. When the app is back, they get the alert
    /// once or not at all; `CardLife` judges that none comes before and none twice.
    private mutating func countAlertsOfAbsences(of followers: [[Int]]) {
        for (life, absence) in history.lives.enumerated() {
            for app in CardApp.allCases where !absence.apps.contains(app) {
                guard
                    let back = history.settlements.first(where: { settlement in
                        settlement.life > life && history.lives[settlement.life].apps.contains(app)
                    })
                else { continue }
                for topic in history.topics.indices {
                    let cards = Set(followers[topic].filter { CardApp(card: $0) == app })
                    countAlert(of: topic, acknowledgedIn: life, cards, until: back)
                }
            }
        }
    }

    /// - Parameters:
    ///   - cards: those of an app that the life lacks.
    ///   - back: moment at which everything had arrived in a later life with the app.
    private mutating func countAlert(
        of topic: Int, acknowledgedIn life: Int, _ cards: Set<Int>, until back: History.Settlement
    ) {
        let changes = history.topics[topic].changes
        guard !cards.isEmpty,
            let place = changes.lastIndex(where: { $0.life == life && $0.kind == .alert && $0.acknowledged != nil }),
            !changes[place].isMuted, changes[place].pause == nil
        else { return }
        let part = changes[place].asked...back.acknowledged
        let certain = cards.filter { card in
            history.cards[card].wantsAlerts(during: part)
                && history.cards[card].shows.contains {
                    $0.value == [topic] && ($0.acknowledged ?? .max) < changes[place].asked
                        && ($0.leaving ?? .max) > back.acknowledged
                }
        }
        let alert = Record.Shown(topic, place + 1)
        let came = certain.count { card in record.pushes[card].contains { $0.alerts.contains(alert) } }
        findings.alertsOfAbsences += certain.count
        findings.alertsAfterAbsences += came
    }
}
