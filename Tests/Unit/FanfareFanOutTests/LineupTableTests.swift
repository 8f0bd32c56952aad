import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

@Suite struct LineupTableTests {
    private func publication(
        _ serial: UInt64, topic: String = "match", priority: Priority = .immediate, alert: Alert? = nil
    ) -> Publication {
        Publication.test(
            serial, of: TopicID(topic), state: ["score": .int(Int64(serial))], priority: priority, alert: alert)
    }

    private func alert(_ cause: String) -> Alert {
        Alert(
            cause: cause, class: .essential, text: AlertText(title: cause, body: ""), freshFor: .seconds(300),
            highlight: nil)
    }

    private func publish(
        _ serial: UInt64, of topic: TopicIndex, in table: LineupTable, priority: Priority = .immediate,
        cause: String? = nil
    ) {
        guard let lineups = table[topic] else { return }
        let alert = cause.map(alert)
        let issued = alert.map { IssuedAlert($0, of: TopicID("\(topic)"), at: 0) }
        _ = table.publish(
            publication(serial, priority: priority, alert: alert), of: topic, to: lineups, alert: issued, at: 0)
    }

    /// Adds a lineup of topic 1 and of one that is its own.
    private static func insertSelection(_ number: Int, into table: LineupTable) -> Int {
        table.insert(.init(topics: [1, TopicIndex(2 + number)], pinned: nil), audience: AudienceIndex(number))
    }

    @Test func equalSelectionsAreFoundAndOthersAreNot() {
        let table = LineupTable()
        let selections: [LineupSelection] = [
            .init(topics: [1, 2, 3], pinned: nil), .init(topics: [1, 2, 3], pinned: 0),
            .init(topics: [3, 2, 1], pinned: nil), .init(topics: [1, 2], pinned: nil),
        ]
        let rows = selections.enumerated().map { table.insert($1, audience: AudienceIndex($0 + 10)) }
        #expect(selections.map { table.find($0) } == rows)
        #expect(table.find(.init(topics: [2, 1, 3], pinned: nil)) == nil)
        #expect(rows.map { table.audience(of: $0) } == [10, 11, 12, 13])
        #expect(table.violation() == nil)
    }

    /// Lineups are added and removed in random order, and the table agrees with a dictionary on each selection.
    @Test(arguments: UInt64(1)...5) func lineupTableAgreesWithADictionary(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let table = LineupTable()
        var known: [LineupSelection: Int] = [:]
        for step in 0..<2000 {
            let count = Int.random(in: 1...3, using: &random)
            let topics = (0..<6).shuffled(using: &random).prefix(count).map { TopicIndex($0) }
            let selection = LineupSelection(topics: topics, pinned: Bool.random(using: &random) ? 0 : nil)
            #expect(table.find(selection) == known[selection], "seed \(seed)")
            if let row = known.removeValue(forKey: selection) {
                table.take(row)
                table.remove(row)
            } else {
                known[selection] = table.insert(selection, audience: AudienceIndex(step))
            }
            if step % 7 == 0 { publish(UInt64(step), of: TopicIndex(Int.random(in: 0..<6, using: &random)), in: table) }
            if step % 50 == 0 { #expect(table.violation() == nil, "seed \(seed)") }
        }
        #expect(table.count == known.count && table.violation() == nil)
    }

    @Test func newsOfAllTopicsAreTakenOnceAndInOrder() {
        let table = LineupTable()
        let row = table.insert(.init(topics: [4, 5], pinned: nil), audience: 0)
        let other = table.insert(.init(topics: [5], pinned: nil), audience: 1)
        publish(1, of: 5, in: table)
        publish(2, of: 4, in: table)
        publish(3, of: 5, in: table)
        #expect(table.hasNews(row) && table.hasNews(other) && table.newsCount == 3)
        table.take(row)
        #expect(table.taken.map(\.position) == [1, 0, 1])
        #expect(table.taken.map(\.news.publication.serial) == [1, 2, 3])
        #expect(table.exhausted == [2], "the other one is still to look at the rest")
        table.take(row)
        #expect(table.taken.isEmpty && !table.hasNews(row))
        var unvisited = table.unvisited()
        let isVisited = unvisited.isEmpty { table.hasUnvisitedNews(of: $0, through: $1) }
        table.take(other)
        #expect(table.exhausted == [1, 3] && table.newsCount == 0)
        publish(4, of: 5, in: table)
        let isVisitedNow = unvisited.isEmpty { table.hasUnvisitedNews(of: $0, through: $1) }
        #expect(!isVisited && isVisitedNow, "later news do not count")
    }

    @Test func laterLineupHasNoEarlierNews() {
        let table = LineupTable()
        _ = table.insert(.init(topics: [1], pinned: nil), audience: 0)
        publish(1, of: 1, in: table)
        let late = table.insert(.init(topics: [1, 2], pinned: nil), audience: 1)
        #expect(!table.hasNews(late) && table.violation() == nil)
        publish(2, of: 2, in: table)
        #expect(table.hasNews(late))
    }

    /// No lineup looks at the news for a while: dropped news are silent, and the newest stay.
    @Test func unvisitedNewsIsBounded() {
        let table = LineupTable()
        let row = table.insert(.init(topics: [1], pinned: nil), audience: 0)
        for serial in UInt64(1)...200 { publish(serial, of: 1, in: table, cause: serial == 3 ? "goal" : nil) }
        #expect(table.newsCount == TopicLineups.newsMax && table.violation() == nil)
        table.take(row)
        #expect(table.taken.last?.news.publication.serial == 200)
        #expect(table.taken.contains { $0.news.alert?.alert.cause == "goal" })
    }

    /// The cursor's first pass is for lineups with the topic in the spotlight; the last one before the cursor leaves.
    @Test func secondPassBeginsWhenTheLastLineupOfTheFirstLeaves() throws {
        let table = LineupTable()
        let rows = (0..<3).map { Self.insertSelection($0, into: table) }
        publish(1, of: 1, in: table, cause: "goal")
        let lineups = try #require(table[1])
        let first = lineups.next(limit: 2)
        let visited = first.links.map { table.row(of: $0) }
        #expect(first.spotlightOnly)
        lineups.visited(2)
        table.take(visited[1])
        let last = try #require(rows.first { !visited.contains($0) })
        table.take(last)
        table.remove(last)
        #expect(lineups.hasWork, "the lineup that was passed over is still to be visited")
        let second = lineups.next(limit: 3)
        #expect(!second.spotlightOnly && second.links.contains { table.row(of: $0) == visited[0] })
        #expect(table.violation() == nil)
    }

    @Test func publicationsDoNotKeepTheCursorInItsFirstPass() throws {
        let table = LineupTable()
        for number in 0..<3 { _ = Self.insertSelection(number, into: table) }
        publish(1, of: 1, in: table, cause: "goal")
        let lineups = try #require(table[1])
        lineups.visited(2)
        publish(2, of: 1, in: table, cause: "goal 2")
        lineups.visited(1)
        let next = lineups.next(limit: 3)
        #expect(!next.spotlightOnly && next.links.count == 3)
    }

    @Test func anAlertThatSaysTheSameHasBeenHeard() throws {
        let table = LineupTable()
        let row = table.insert(.init(topics: [1, 2], pinned: nil), audience: 0)
        publish(1, of: 1, in: table, cause: "goal")
        let late = table.insert(.init(topics: [2, 1], pinned: nil), audience: 1)
        publish(2, of: 2, in: table, cause: "goal")
        publish(3, of: 2, in: table, cause: "another")
        table.take(row)
        let alerts = table.taken.compactMap(\.news.alert)
        #expect(alerts.map { table.isRepeat($0, row) } == [false, true, false])
        #expect(!table.isRepeat(alerts[1], late), "it came after the first")
        #expect(table.alertsTaken(row).map(\.alert.cause) == ["goal", "another"])
    }

    /// A topic begins again under its id, and its facts' ids with it.
    @Test func aTopicsNextTenureMaySayTheSame() {
        let table = LineupTable()
        let row = table.insert(.init(topics: [1, 2], pinned: nil), audience: 0)
        publish(1, of: 1, in: table, cause: "next")
        publish(2, of: 1, in: table, cause: "next")
        table.take(row)
        let heard = table.taken.compactMap(\.news.alert).map { table.isRepeat($0, row) }
        #expect(heard == [false, false])
    }

    @Test func revokingAnAlertIsOneWriteForAll() {
        let table = LineupTable()
        let rows = (0..<3).map { Self.insertSelection($0, into: table) }
        publish(1, of: 1, in: table, cause: "goal")
        table.take(rows[0])
        table[1]?.revoke(cause: "goal")
        for row in rows {
            #expect(table.alertsTaken(row).contains { !$0.isRevoked } == false)
            table.take(row)
            #expect(table.taken.compactMap(\.news.alert).contains { !$0.isRevoked } == false)
        }
    }

    @Test func aLineupComesBackFromItsRestAsItWas() {
        let table = LineupTable()
        let row = table.insert(.init(topics: [7, 8, 9], pinned: 1), audience: 0)
        table.rest(
            RestingLineup(
                row: row, pinned: 1, member: ActivitySlot(3), number: 12, displayHash: 99, priority: .immediate,
                publishedAt: 77,
                rotation: RestingRotation(
                    position: 2, weight: 60, dwellEnds: 5_000_000, turnEnds: .always, debt: 7,
                    debtAt: FeedTime(milliseconds: 8)),
                spotlight: 2, wakeUp: nil, alertCounts: SIMD2(3, 4)))
        #expect(table.isResting(row) && table[lone: row].member == ActivitySlot(3))
        #expect(table.loneRow(ofAudience: 0) == row)
        let woken = table.wake(row)
        #expect(table.loneRow(ofAudience: 0) == nil && !table.isLone(row))
        #expect(woken.row == row && woken.pinned == 1 && woken.member == ActivitySlot(3))
        #expect(woken.number == 12 && woken.displayHash == 99 && woken.priority == .immediate)
        #expect(woken.publishedAt == 77 && woken.spotlight == 2 && woken.wakeUp == nil)
        #expect(woken.alertCounts == SIMD2(3, 4) && woken.rotation.position == 2 && woken.rotation.weight == 60)
        #expect(woken.rotation.dwellEnds == 5_000_000 && woken.rotation.debt == 7)
    }

    @Test func aLineupThatRestsBeforeItsFirstVersionHasNoSpotlight() {
        let table = LineupTable()
        let row = table.insert(.init(topics: [7], pinned: nil), audience: 4)
        table.rest(
            RestingLineup(
                row: row, pinned: nil, member: ActivitySlot(3), number: 0, displayHash: 0, priority: .conserving,
                publishedAt: .always,
                rotation: RestingRotation(
                    position: .max, weight: .max, dwellEnds: .always, turnEnds: .always, debt: 0,
                    debtAt: FeedTime(milliseconds: 0)),
                spotlight: nil, wakeUp: nil, alertCounts: SIMD2()))
        #expect(table.loneRow(ofAudience: 4) == row && table.loneRow(ofAudience: 3) == nil)
        let woken = table.wake(row)
        #expect(woken.spotlight == nil && woken.pinned == nil && table.violation() == nil)
    }

    /// A silent version every few visits after a goal: the lane is the goal's until all have it, and not for good.
    @Test func silentNewsAfterAGoalGoInTheirOwnLane() throws {
        let table = LineupTable()
        for number in 0..<10 { _ = Self.insertSelection(number, into: table) }
        publish(1, of: 1, in: table, cause: "goal")
        let lineups = try #require(table[1])
        var visits = 0
        for serial in UInt64(2)...30 {
            for _ in 0..<3 {
                #expect(lineups.preferredLane == (visits < 20 ? 0 : 2), "after \(visits) visits")
                let count = lineups.next(limit: 1).links.count
                lineups.visited(count)
                visits += count
            }
            publish(serial, of: 1, in: table, priority: .conserving)
        }
        publish(31, of: 1, in: table, priority: .immediate)
        #expect(lineups.preferredLane == 1)
    }
}
