import FanfareModel
import FanfareQueues
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

@Suite struct TopicLineupsTests {
    private static func alert(_ cause: String, _ alertClass: AlertClass = .essential) -> Alert {
        Alert(
            cause: cause, class: alertClass, text: AlertText(title: cause, body: ""), freshFor: .seconds(300),
            highlight: nil)
    }

    private static func publication(
        _ serial: Int, priority: Priority = .conserving, event: Publication.Event = .update, alert: Alert? = nil
    ) -> Publication {
        Publication.test(
            UInt64(serial), event: event, state: ["score": .int(Int64(serial))], priority: priority, alert: alert)
    }

    /// A topic and the numbers of its lineups' links, in the table's column.
    private struct Stage {
        let topic = TopicLineups(newest: NewsNumber())
        var positions = GrowingColumn<UInt32>(repeating: 0, count: 30)
        var number = NewsNumber()
        var serial = 0
        var forgotten: [String] = []

        init(lineups: Int = 0) {
            for link in 0..<lineups {
                topic.order.joinVisited(LineupLink(rawValue: UInt32(link)), positions: &positions)
            }
        }

        @discardableResult
        mutating func publish(
            _ priority: Priority = .conserving, _ event: Publication.Event = .update, alert: Alert? = nil
        ) -> TopicLineups.News? {
            number.advance()
            serial += 1
            return topic.append(
                TopicLineupsTests.publication(serial, priority: priority, event: event, alert: alert),
                alert: alert.map { IssuedAlert($0, of: TopicID("match"), at: 0) }, number: number, at: 0
            ) { forgotten.append($0.alert.cause) }
        }

        mutating func visit() -> (link: LineupLink, spotlightOnly: Bool)? {
            let (links, spotlightOnly) = topic.next(limit: 1)
            guard let link = links.first else { return nil }
            topic.visited(1)
            return (link, spotlightOnly)
        }
    }

    /// News in a plain list, each with the lineups that have not looked at it.
    private struct KnownNews {
        let number: NewsNumber
        let serial: UInt64
        let hasAlert: Bool
        var lookers: Set<Int>
    }

    /// Lineups join, look at what they have not seen, up to the newest or earlier, and leave.
    @Test(arguments: 0..<20 as Range<UInt64>) func newsStayUntilEachLineupOfTheirTimeHasLooked(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var stage = Stage()
        var seen: [Int: NewsNumber] = [:]
        var known: [KnownNews] = []
        /// Lets a lineup look, and returns the serials that it sees and those that nobody is to look at any more.
        func look(_ lineup: Int, through last: NewsNumber) -> (looked: [UInt64], exhausted: [UInt64]) {
            let looked = known.filter { $0.lookers.contains(lineup) && $0.number <= last }.map(\.serial)
            for index in known.indices where known[index].number <= last { known[index].lookers.remove(lineup) }
            defer { known.removeAll { $0.lookers.isEmpty } }
            return (looked, known.filter { $0.lookers.isEmpty }.map(\.serial))
        }
        for step in 0..<2500 {
            let lineup = Int.random(in: 0..<20, using: &random)
            let context = "seed \(seed), step \(step)"
            var (looked, exhausted): ([UInt64], [UInt64]) = ([], [])
            switch (Int.random(in: 0..<10, using: &random), seen[lineup]) {
            case (0..<2, nil):
                stage.topic.order.joinVisited(LineupLink(rawValue: UInt32(lineup)), positions: &stage.positions)
                seen[lineup] = stage.topic.newest
            case (0, let number?):
                let due = look(lineup, through: stage.topic.newest)
                stage.topic.settle(
                    after: number, through: stage.topic.newest, alert: { _ in },
                    exhaust: { exhausted.append($0.publication.serial) })
                #expect(exhausted == due.exhausted, "\(context)")
                stage.topic.order.leave(at: Int(stage.positions[lineup]), positions: &stage.positions)
                seen[lineup] = nil
            case (1..<4, let number?):
                // A push in flight has brought what there was when it left.
                let last = known.map(\.number).filter { $0 > number }.randomElement(using: &random)
                guard let last = random.chance(0.5) ? last : stage.topic.newest else { continue }
                let due = look(lineup, through: last)
                stage.topic.take(
                    after: number, through: last, look: { looked.append($0.publication.serial) },
                    exhaust: { exhausted.append($0.publication.serial) })
                #expect(looked == due.looked && exhausted == due.exhausted, "\(context)")
                seen[lineup] = last
            case (4..., _) where !seen.isEmpty:
                let hasAlert = random.chance(0.3)
                let dropped = stage.publish(alert: hasAlert ? Self.alert("\(stage.serial)") : nil)
                if known.count == TopicLineups.newsMax {
                    let gone = known.remove(at: known.lastIndex { !$0.hasAlert } ?? 0)
                    #expect(dropped?.number == gone.number && dropped?.lookers == gone.lookers.count, "\(context)")
                } else {
                    #expect(dropped == nil, "\(context)")
                }
                known.append(
                    KnownNews(
                        number: stage.number, serial: UInt64(stage.serial), hasAlert: hasAlert, lookers: Set(seen.keys))
                )
            default: continue
            }
            #expect(stage.topic.news.map(\.publication.serial) == known.map(\.serial), "\(context)")
            #expect(stage.topic.lookers == known.map(\.lookers.count).max() ?? 0, "\(context)")
            #expect(stage.topic.violation() == nil, "\(context)")
        }
    }

    /// Versions come during the passes of the last ones, with and without alerts.
    @Test(arguments: 0..<20 as Range<UInt64>) func theCursorBringsEachVersionToAllLineupsAndAlertsKeepTheFirstLane(
        seed: UInt64
    ) {
        var random = SplitMix64(seed: seed)
        var stage = Stage(lineups: 7)
        /// Lineups that no pass over all has visited since the last version, and since the last alert.
        var (lacking, unalerted): (Set<LineupLink>, Set<LineupLink>) = ([], [])
        let all = Set((0..<7).map { LineupLink(rawValue: $0) })
        for step in 0..<3000 {
            if random.chance(0.1) {
                let hasAlert = random.chance(0.3)
                let isUrgent = random.chance(0.3)
                stage.publish(isUrgent ? .immediate : .conserving, alert: hasAlert ? Self.alert("goal") : nil)
                lacking = all
                if hasAlert { unalerted = all }
            } else if let (link, spotlightOnly) = stage.visit(), !spotlightOnly {
                lacking.remove(link)
                unalerted.remove(link)
            }
            guard stage.topic.hasWork == !lacking.isEmpty, stage.topic.preferredLane == 0 || unalerted.isEmpty,
                lacking.allSatisfy({ stage.topic.reaches(Int(stage.positions[$0.index])) })
            else {
                Issue.record("seed \(seed), step \(step): \(lacking.count) lack a version, \(unalerted.count) an alert")
                return
            }
        }
    }

    /// Their cards are most out of date.
    @Test func urgentNewsGoFirstToLineupsWithTheTopicInTheirSpotlight() {
        for (priority, alert, passes) in [
            (.immediate, nil, [true, true, true, false, false, false]),
            (.conserving, Self.alert("goal"), [true, true, true, false, false, false]),
            (.conserving, nil, [false, false, false]),
        ] as [(Priority, Alert?, [Bool])] {
            var stage = Stage(lineups: 3)
            stage.publish(priority, alert: alert)
            var visits: [(link: LineupLink, spotlightOnly: Bool)] = []
            while stage.topic.hasWork, let visit = stage.visit() { visits.append(visit) }
            #expect(visits.map(\.spotlightOnly) == passes)
            #expect(Set(visits.suffix(3).map(\.link)).count == 3)
        }
    }

    /// A first pass that began anew with each version would starve the lineups of the second.
    @Test func versionsDuringTheFirstPassDoNotMakeItBeginAnew() {
        var stage = Stage(lineups: 3)
        stage.publish(.immediate)
        var passes: [Bool?] = []
        for _ in 0..<3 {
            passes.append(stage.visit()?.spotlightOnly)
            stage.publish(.immediate)
        }
        #expect(passes == [true, true, true])
        #expect(stage.topic.next(limit: 5).spotlightOnly && stage.topic.order.remaining == 3, "the pass was over")
    }

    @Test func theLaneIsThatOfTheMostUrgentNewsThatSomebodyLacks() {
        for (priority, event, alert, lane) in [
            (.conserving, .update, nil, 2), (.immediate, .update, nil, 1), (.conserving, .end, nil, 0),
            (.conserving, .update, Self.alert("goal"), 0),
        ] as [(Priority, Publication.Event, Alert?, Int)] {
            var stage = Stage(lineups: 3)
            #expect(stage.topic.preferredLane == 2)
            stage.publish(priority, event, alert: alert)
            stage.publish()
            #expect(stage.topic.preferredLane == lane)
            while stage.topic.hasWork { _ = stage.visit() }
            #expect(stage.topic.preferredLane == 2)
        }
    }

    @Test func ofEachClassTheLastAlertsAreKeptAndARevocationReachesThemAndTheNews() {
        var stage = Stage(lineups: 1)
        stage.publish(alert: Self.alert("goal"))
        let most = PendingAlert.perClassMax
        for number in 0..<most + 2 { stage.publish(alert: Self.alert("card \(number)", .ordinary)) }
        #expect(stage.topic.alerts.map(\.alert.cause) == ["goal"] + (2..<most + 2).map { "card \($0)" })
        #expect(stage.forgotten == ["card 0", "card 1"])
        for cause in ["goal", "card 0", "card 5"] { stage.topic.revoke(cause: cause) }
        #expect(stage.topic.alerts.filter(\.isRevoked).map(\.alert.cause) == ["goal", "card 5"])
        let news = stage.topic.news.compactMap(\.alert).filter(\.isRevoked)
        #expect(news.map(\.alert.cause) == ["goal", "card 0", "card 5"])
    }
}

@Suite struct NewsNumberTests {
    @Test func numbersCompareInTheOrderOfTheirNewsAcrossTheEndOfTheCounter() {
        var number = NewsNumber(rawValue: .max - 50)
        var numbers: [NewsNumber] = []
        for _ in 0..<100 {
            numbers.append(number)
            number.advance()
        }
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 && !($1 < $0) })
        #expect(numbers.first.map { $0 < number } == true && number.rawValue == 49)
    }
}
