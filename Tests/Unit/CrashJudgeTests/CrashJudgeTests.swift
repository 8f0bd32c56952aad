import Testing

@testable import CrashTest

/// The judge of a program's lives: it is content with what may be, and sees what must not.
@Suite struct CrashJudgeTests {
    /// Two lives of an engine with one topic and one card, and nothing wrong.
    private struct Lives {
        var history = History()
        var record: Record

        init() {
            var topic = History.Topic("match/0")
            topic.changes = [
                Lives.change(.event, 1, 2, life: 0), Lives.change(.alert, 7, 8, life: 0),
                Lives.change(.event, 20, 21, life: 1),
            ]
            var card = History.Card()
            card.shows = [.init([0], asked: 3, acknowledged: 4)]
            card.tokens = [.init(0, asked: 3, acknowledged: 4)]
            history.topics = [topic]
            history.cards = [card]
            history.lives = [
                History.Life(round: 1, beganNanoseconds: 0), History.Life(round: 2, beganNanoseconds: 10_000_000_000),
            ]
            history.lives[0].killed = 12
            history.settlements = [.init(life: 1, asked: 22, acknowledged: 23, nanoseconds: 10_500_000_000)]
            record = Record(cards: 1)
            record.pushes[0] = [
                Lives.push(1, at: 100, stamp: 100), Lives.push(2, at: 200, stamp: 101, alerts: true),
                Lives.push(3, at: 10_100, stamp: 110),
            ]
        }

        static func change(
            _ kind: Request.Change, _ asked: Int, _ acknowledged: Int?, life: Int
        ) -> History.Change {
            History.Change(kind: kind, asked: asked, acknowledged: acknowledged, life: life)
        }

        static func push(
            _ number: Int, at arrival: Int64, stamp: Int64, event: Record.Event = .update, alerts: Bool = false
        ) -> Record.Push {
            Record.Push(
                arrival: arrival, life: arrival < 10_000 ? 0 : 1, event: event, stamp: stamp,
                content: .init(name: "\(number)", shown: [.init(0, number)]), alerts: alerts ? [.init(0, number)] : [])
        }

        func findings() -> Findings {
            var judge = CrashJudge(history, record, seed: 1)
            return judge.judge()
        }

        /// Returns what the judge says after a change.
        static func violations(_ spoil: (inout Lives) -> Void) -> [String] {
            var lives = Lives()
            spoil(&lives)
            return lives.findings().violations.map(\.text)
        }
    }

    private func sees(_ words: String, _ spoil: (inout Lives) -> Void) {
        let found = Lives.violations(spoil)
        #expect(found.contains { $0.contains(words) }, "\(found)")
    }

    @Test func theJudgeIsContentWithLivesInWhichNothingIsLost() {
        let findings = Lives().findings()
        #expect(findings.violationCount == 0, "\(findings.violations)")
        #expect(findings.cards.pushes == 3 && findings.cards.alerts == 1 && findings.checkedAtSettlements == 1)
    }

    /// Numbers are left out for an app that is away, and an engine without the app restarts none of its cards.
    @Test func cardsAndRestartsThatNeverWereAreNotCounted() {
        var lives = Lives()
        lives.history.cards.append(History.Card())
        lives.record.pushes.append([])
        #expect(lives.findings().checkedCards == 1 && lives.findings().cards.restartsOfCards == 1)
        lives.history.lives[1].apps = []
        #expect(lives.findings().cards.restartsOfCards == 0)
    }

    @Test func aRestartMaySendAStateAgainOnce() {
        let again = Lives.push(2, at: 10_050, stamp: 109)
        var lives = Lives()
        lives.record.pushes[0].insert(again, at: 2)
        #expect(lives.findings().violationCount == 0 && lives.findings().cards.superfluous == 1)
        sees("sent again") { $0.record.pushes[0].insert(contentsOf: [again, again], at: 2) }
        sees("sent again") { $0.record.pushes[0].insert(Lives.push(1, at: 150, stamp: 100), at: 1) }
    }

    @Test func aCardThatMovesAwayAndBackGetsItsStateOnceMore() {
        let again = Lives.push(2, at: 250, stamp: 102)
        var lives = Lives()
        lives.history.topics.append(History.Topic("match/1"))
        lives.history.cards[0].shows = [
            .init([0], asked: 3, acknowledged: 4), .init([1], asked: 9, acknowledged: 10),
            .init([0], asked: 11, acknowledged: 12),
        ]
        for show in 0..<2 { lives.history.cards[0].shows[show].leaving = 9 + 2 * show }
        for show in 0..<2 { lives.history.cards[0].shows[show].left = 10 + 2 * show }
        lives.record.pushes[0].insert(again, at: 2)
        #expect(lives.findings().violationCount == 0, "\(lives.findings().violations)")
        lives.record.pushes[0].insert(again, at: 2)
        #expect(lives.findings().violationCount > 0)
    }

    @Test func theJudgeSeesThatAnAcknowledgedEventIsLost() {
        sees("at the end the card should show") { $0.record.pushes[0].removeLast() }
        sees("everything settled, and the card has 2") { $0.record.pushes[0].removeLast() }
    }

    @Test func anEventWithoutAnAcknowledgementMayHaveHappenedOrNot() {
        var lives = Lives()
        lives.history.topics[0].changes.insert(Lives.change(.event, 11, nil, life: 0), at: 2)
        lives.record.pushes[0][2] = Lives.push(4, at: 10_100, stamp: 110)
        #expect(lives.findings().violationCount == 0)
        lives.record.pushes[0].insert(Lives.push(3, at: 10_050, stamp: 109), at: 2)
        #expect(lives.findings().violationCount == 0)
    }

    @Test func theJudgeSeesThatVersionsAndStampsGoBack() {
        sees("goes back from 2 to 1") { $0.record.pushes[0].insert(Lives.push(1, at: 10_050, stamp: 109), at: 2) }
        sees("the stamp goes back") { $0.record.pushes[0][1].stamp = 99 }
    }

    @Test func theJudgeSeesAnAlertTwiceMutedOrToAJoiner() {
        sees("alert 2 of match/0 twice") {
            $0.record.pushes[0].insert(Lives.push(2, at: 10_050, stamp: 109, alerts: true), at: 2)
        }
        sees("which was muted") { $0.history.topics[0].changes[1].isMuted = true }
        sees("joined after it") {
            $0.history.cards[0].shows = [.init([0], asked: 9, acknowledged: 10)]
            $0.record.pushes[0].removeFirst()
        }
    }

    private static func preference(
        _ wish: Request.Wish, _ asked: Int, _ acknowledged: Int?, at milliseconds: Int64 = 0
    ) -> History.Preference {
        History.Preference(
            wish, asked: asked, askedNanoseconds: milliseconds * 1_000_000, acknowledged: acknowledged)
    }

    @Test func theJudgeSeesAnAlertToACardWhoseAcknowledgedPreferencesWantNone() {
        for wish in [Request.Wish.silence, .quietHours] {
            sees("alert 2 of match/0 comes to a card that wants none") {
                $0.history.cards[0].preferences.append(Self.preference(wish, 5, 6))
            }
        }
        sees("comes to a card that wants none") {
            $0.history.cards[0].preferences += [
                Self.preference(.silence, 5, 6), Self.preference(.alerts, 9, 10, at: 201),
            ]
        }
        let harmless = [
            [Self.preference(.silence, 5, nil)], [Self.preference(.silence, 5, 8)],
            [Self.preference(.silence, 5, 6), Self.preference(.alerts, 9, nil, at: 200)],
        ]
        for preferences in harmless {
            let found = Lives.violations { $0.history.cards[0].preferences += preferences }
            #expect(found.isEmpty, "\(found)")
        }
    }

    @Test func aCardThatWantsNoAlertsNeedsNone() {
        var lives = Lives()
        lives.record.pushes[0][1] = Lives.push(2, at: 10_050, stamp: 101)
        lives.history.cards[0].preferences.append(Self.preference(.silence, 5, 6))
        let later = lives.findings()
        #expect(later.violationCount == 0 && later.alertsAtKills == 0, "\(later.violations)")
        #expect(later.cards.silenced == 1 && later.cards.silencedAfterRestarts == 1)
        // In one life everything settles.
        lives.record.pushes[0][1] = Lives.push(2, at: 200, stamp: 101)
        lives.history.settlements.insert(.init(life: 0, asked: 9, acknowledged: 10, nanoseconds: 300_000_000), at: 0)
        let atOnce = lives.findings()
        #expect(atOnce.violationCount == 0 && atOnce.cards.silencedAfterRestarts == 0, "\(atOnce.violations)")
        lives.history.cards[0].preferences.removeLast()
        let lost = lives.findings().violations.map(\.text)
        #expect(lost.contains { $0.contains("alert 2 of match/0 is acknowledged, everything settled") }, "\(lost)")
    }

    @Test func theJudgeSeesAPushToWhoHasLeft() {
        sees("comes to a card that had left it") { lives in
            lives.history.cards[0].shows[0].left = 15
            lives.history.cards[0].unfollowed = 14
        }
        sees("a token that had been replaced") { lives in
            lives.history.cards[0].tokens[0].left = 15
            lives.history.cards[0].tokens.append(.init(1, asked: 14, acknowledged: 15))
        }
    }

    @Test func theJudgeSeesAnEndThatIsMissingOvertakenOrNobodysWish() {
        sees("an unfollow was acknowledged, and no end has come") { lives in
            (lives.history.cards[0].unfollowed, lives.history.cards[0].isUnfollowAcknowledged) = (24, true)
        }
        sees("something follows the end") { lives in
            lives.history.cards[0].unfollowed = 24
            lives.record.pushes[0].insert(Lives.push(2, at: 10_050, stamp: 109, event: .end), at: 2)
        }
        sees("an end that nobody asked for") {
            $0.record.pushes[0].append(Lives.push(3, at: 10_200, stamp: 111, event: .end))
        }
    }

    @Test func theJudgeSeesAnEndWithAnOldStampOrToAReplacedToken() {
        func end(_ stamp: Int64, _ lives: inout Lives) {
            (lives.history.cards[0].unfollowed, lives.history.cards[0].isUnfollowAcknowledged) = (30, true)
            lives.record.pushes[0].append(Lives.push(3, at: 10_600, stamp: stamp, event: .end))
        }
        #expect(Lives.violations { end(120, &$0) }.isEmpty)
        sees("the stamp goes back from 110 to 105") { end(105, &$0) }
        sees("an end comes to a token that had been replaced") { lives in
            lives.history.cards[0].tokens[0].left = 25
            lives.history.cards[0].tokens.append(.init(1, asked: 24, acknowledged: 25))
            end(120, &lives)
        }
    }

    @Test func theJudgeSeesThatAStartAfterAPlannedStopSaysSomething() {
        let found = Lives.violations { lives in
            lives.history.lives[1].isQuiet = true
        }
        #expect(
            found.count == 1 && found[0].hasSuffix("a start after a planned stop sends what everybody has"), "\(found)")
        // A lineup's rotation has no completion.
        let ofLineup = Lives.violations { lives in
            lives.history.lives[1].isQuiet = true
            lives.record.pushes[0][2].content?.isLineup = true
        }
        #expect(!ofLineup.contains { $0.contains("planned stop") }, "\(ofLineup)")
    }

    @Test func theJudgeSeesAStartTwiceOrGivenUpOrLost() {
        func start(_ arrival: Int64) -> Record.Push { Lives.push(1, at: arrival, stamp: 100, event: .start) }
        sees("2 starts") { lives in
            lives.history.cards[0].start = .init(asked: 3, life: 0, acknowledged: 4)
            lives.record.pushes[0].insert(contentsOf: [start(90), start(91)], at: 0)
        }
        sees("leaves after life 1 has given it up") { lives in
            lives.history.cards[0].start = .init(asked: 3, life: 0, acknowledged: 4)
            lives.history.cards[0].start?.uncertain = 1
            lives.record.pushes[0].insert(start(10_010), at: 2)
        }
        sees("everything settled, and it has not left") { lives in
            lives.history.cards[0].start = .init(asked: 3, life: 0, acknowledged: 4)
        }
        sees("whose topic had nothing to show") { lives in
            lives.history.topics[0].changes.removeFirst(2)
            lives.record.pushes[0].removeFirst(2)
            lives.history.cards[0].start = .init(asked: 3, life: 0, acknowledged: 4)
            lives.history.cards[0].start?.uncertain = 1
        }
        for uncertain in [nil, 1] {
            var lives = Lives()
            lives.history.cards[0].start = .init(asked: 3, life: 0, acknowledged: 4)
            lives.history.cards[0].start?.uncertain = uncertain
            lives.record.pushes[0].insert(start(uncertain == nil ? 10_010 : 90), at: uncertain == nil ? 2 : 0)
            let findings = lives.findings()
            #expect(findings.startsAfterRestarts == (uncertain == nil ? 1 : 0))
            #expect(findings.startsUncertain == (uncertain == nil ? 0 : 1) && findings.startsLost == 0)
            #expect(!findings.violations.contains { $0.text.contains("start") }, "\(findings.violations)")
        }
    }

    @Test func theJudgeSeesThatAConfirmationIsForgotten() {
        func confirmed(_ spoil: (inout Lives) -> Void) -> Findings {
            var lives = Lives()
            lives.history.cards[0].start = .init(asked: 3, life: 0, acknowledged: 4)
            lives.history.cards[0].start?.confirmed = (life: 0, tick: 6)
            lives.record.pushes[0].insert(Lives.push(1, at: 90, stamp: 99, event: .start), at: 0)
            spoil(&lives)
            return lives.findings()
        }
        let good = confirmed { _ in }
        #expect(good.violationCount == 0 && good.cards.confirmations == 1, "\(good.violations)")
        #expect(good.cards.confirmationsAfterRestarts == 1)
        let silent = confirmed { $0.record.pushes[0].removeLast(3) }
        #expect(silent.violations.contains { $0.text.contains("everything settled, and no update has come") })
        #expect(silent.cards.confirmationsAfterRestarts == 0)
        let givenUp = confirmed { $0.history.cards[0].start?.uncertain = 1 }
        #expect(givenUp.violations.contains { $0.text.contains("confirmed in life 0, and this one gives it up") })
        // A life may have given the start up before the app was known to have it.
        let before = confirmed { $0.history.cards[0].start?.uncertain = 0 }
        #expect(!before.violations.contains { $0.text.contains("confirmed") }, "\(before.violations)")
    }

    /// Four cards, the last of which is of the second app, and three lives, the second of which lacks that app.
    private static func livesWithAbsence() -> Lives {
        var lives = Lives()
        lives.history.cards = Array(repeating: lives.history.cards[0], count: 4)
        lives.record.pushes = Array(repeating: lives.record.pushes[0], count: 4)
        lives.history.lives[1].apps = [.first]
        lives.history.lives[1].killed = 24
        lives.history.lives.append(History.Life(round: 3, beganNanoseconds: 20_000_000_000))
        lives.history.settlements.append(.init(life: 2, asked: 25, acknowledged: 26, nanoseconds: 20_500_000_000))
        lives.record.pushes[3][2] = Lives.push(3, at: 20_100, stamp: 110)
        lives.record.pushes[3][2].life = 2
        return lives
    }

    @Test func aCardGetsWhatItHasMissedWhenItsAppComesBack() {
        let good = Self.livesWithAbsence().findings()
        #expect(good.violationCount == 0, "\(good.violations)")
        #expect(good.checkedAtSettlements == 7 && good.checkedAfterAbsences == 1 && good.alertsAtKills == 3)
        var lives = Self.livesWithAbsence()
        lives.record.pushes[3].removeLast()
        let lost = lives.findings().violations.map(\.text)
        #expect(
            lost.contains { $0.contains("life 2") && $0.contains("everything settled, and the card has 2") }, "\(lost)")
    }

    @Test func theJudgeSeesAPushToACardWhoseAppTheLifeLacks() {
        var lives = Self.livesWithAbsence()
        lives.record.pushes[3][2] = Lives.push(3, at: 10_100, stamp: 110)
        let found = lives.findings().violations.map(\.text)
        #expect(found.count == 1 && found[0].hasSuffix("a push comes to a card whose app this life lacks"), "\(found)")
    }

    @Test func anAlertMayComeAgainAfterADiskThatTookNoClaims() {
        var lives = Lives()
        lives.record.pushes[0].insert(Lives.push(2, at: 10_050, stamp: 109, alerts: true), at: 2)
        lives.history.lives[0].unclaimedNanoseconds = 200_000_000
        let findings = lives.findings()
        #expect(findings.violationCount == 0 && findings.cards.alertsRepeated == 1, "\(findings.violations)")
        // The disk was full later than that, and the alert has a claim.
        lives.history.lives[0].unclaimedNanoseconds = 201_000_000
        let claimed = lives.findings().violations.map(\.text)
        #expect(claimed.contains { $0.contains("alert 2 of match/0 twice") }, "\(claimed)")
        lives.history.lives[0].unclaimedNanoseconds = 200_000_000
        lives.record.pushes[0][2].life = 0
        let inOneLife = lives.findings().violations.map(\.text)
        #expect(inOneLife.contains { $0.contains("alert 2 of match/0 twice") }, "\(inOneLife)")
    }

    @Test func theNumberOfStoredCardsHasBounds() {
        var lives = Self.livesWithAbsence()
        #expect(lives.history.storedCards == 4...4)
        // One has asked to leave, one has not been acknowledged, one was started, and one number was never given.
        lives.history.cards[0].unfollowed = 24
        lives.history.cards[1].shows[0].acknowledged = nil
        lives.history.cards[2].shows[0].acknowledged = nil
        lives.history.cards[2].start = .init(asked: 3, life: 0, acknowledged: 4)
        lives.history.cards.append(History.Card())
        #expect(lives.history.storedCards == 2...4)
        lives.history.cards[2].start?.uncertain = 1
        #expect(lives.history.storedCards == 1...4)
        lives.history.topics[0].changes.append(Lives.change(.end, 30, nil, life: 2))
        #expect(lives.history.storedCards == 0...4)
    }

    @Test func aProgramThatEndsInOrderHasRemovedTheCardsThatAreOver() {
        var lives = Self.livesWithAbsence()
        // One has left, one was started and given up, and the topic of the others has ended.
        (lives.history.cards[0].unfollowed, lives.history.cards[0].isUnfollowAcknowledged) = (24, true)
        lives.history.cards[1].shows[0].acknowledged = nil
        lives.history.cards[1].tokens = []
        lives.history.cards[1].start = .init(asked: 3, life: 0, acknowledged: 4)
        lives.history.cards[1].start?.uncertain = 1
        #expect(lives.history.storedCards == 2...4)
        lives.history.lives[2].isStopped = true
        #expect(lives.history.storedCards == 2...2)
        lives.history.topics[0].changes.append(Lives.change(.end, 24, nil, life: 2))
        #expect(lives.history.storedCards == 0...2)
        lives.history.topics[0].changes[3].acknowledged = 24
        #expect(lives.history.storedCards == 0...0)
        // Nobody knows whether this one has moved.
        lives.history.cards[2].shows.append(.init([0], asked: 24))
        #expect(lives.history.storedCards == 0...1)
    }

    @Test func aCardWhoseTopicIsForgottenBeforeItsAppIsBackNeedsNoEnd() {
        var lives = Self.livesWithAbsence()
        lives.history.topics[0].changes.append(Lives.change(.end, 22, 23, life: 1))
        lives.history.lives[1].killed = 26
        lives.history.settlements[0] = .init(life: 1, asked: 24, acknowledged: 25, nanoseconds: 10_500_000_000)
        lives.history.settlements[1] = .init(life: 2, asked: 27, acknowledged: 28, nanoseconds: 20_500_000_000)
        for card in 0..<3 { lives.record.pushes[card].append(Lives.push(4, at: 10_300, stamp: 111, event: .end)) }
        lives.record.pushes[3].removeLast()
        let soon = lives.findings().violations.map(\.text)
        #expect(soon.count == 1 && soon[0].contains("at the end the card should show"), "\(soon)")
        lives.history.settlements[1] = .init(life: 2, asked: 27, acknowledged: 28, nanoseconds: 70_500_000_000)
        let late = lives.findings().violations.map(\.text)
        #expect(late.isEmpty, "\(late)")
        // An app that was never away is served at once, however long a life lasts.
        lives.history.settlements[0] = .init(life: 1, asked: 24, acknowledged: 25, nanoseconds: 45_500_000_000)
        lives.record.pushes[0].removeLast()
        let lost = lives.findings().violations.map(\.text)
        #expect(lost.count == 1 && lost[0].contains("at the end the card should show"), "\(lost)")
    }

    @Test func alertsOfAnAbsenceAreCountedAndComeOnceAtMost() {
        var lives = Self.livesWithAbsence()
        lives.history.topics[0].changes[2].kind = .alert
        let without = lives.findings()
        #expect(without.alertsOfAbsences == 1 && without.alertsAfterAbsences == 0)
        lives.record.pushes[3][2].alerts = [.init(0, 3)]
        let with = lives.findings()
        #expect(with.alertsOfAbsences == 1 && with.alertsAfterAbsences == 1)
        #expect(!with.violations.contains { $0.text.contains("twice") }, "\(with.violations)")
        var again = lives.record.pushes[3][2]
        (again.arrival, again.stamp) = (20_200, 111)
        lives.record.pushes[3].append(again)
        let twice = lives.findings().violations.map(\.text)
        #expect(twice.contains { $0.contains("alert 3 of match/0 twice") }, "\(twice)")
    }

    /// The last pushes of a life arrive in the millisecond in which the next one begins.
    @Test func aPushIsOfTheLifeThatHasSentIt() {
        let lives = [0, 9, 10, 11, 20, 21].map { Record.life(of: $0, begins: [0, 10, 20]) }
        #expect(lives == [0, 0, 0, 1, 1, 2])
    }

    @Test func theJudgeSeesWhatIsShownInAPause() {
        sees("though it is paused") { lives in
            var pause = History.Pause(asked: 15)
            (pause.liftedNanoseconds, pause.over) = (10_200_000_000, 24)
            lives.history.topics[0].pauses = [pause]
            lives.history.topics[0].changes[2].pause = 0
        }
    }

    @Test func theJudgeBoundsTheAlertsThatAKillCosts() {
        func lives(lacking count: Int) -> Findings {
            var lives = Lives()
            let card = lives.history.cards[0]
            lives.history.cards = Array(repeating: card, count: 40_000)
            lives.record.pushes = Array(repeating: lives.record.pushes[0], count: 40_000)
            // The shards of each app make claims for themselves.
            for card in lives.history.cards.indices.filter({ CardApp(card: $0) == .first }).prefix(count) {
                lives.record.pushes[card][1].alerts = []
            }
            return lives.findings()
        }
        #expect(lives(lacking: 6000).violationCount == 0)
        #expect(lives(lacking: 6000).alertsLost == 6000)
        #expect(lives(lacking: 7000).violationCount > 0)
    }

    @Test func requestsAndAnswersComeBackFromTheirLines() {
        let requests: [Request] = [
            .change(.alert, topic: "match/1", number: 7), .change(.end, topic: "order/2", number: 1),
            .order(.pause, topic: "match/1", call: 9), .follow(card: 3, audience: ["a/1", "b/2"], generation: 0),
            .move(card: 3, audience: ["a/1"]), .replaceToken(card: 3, generation: 2), .unfollow(card: 3),
            .setPreferences(card: 3, .silence), .setPreferences(card: 3, .quietHours),
            .start(card: 4, audience: ["a/1"]), .confirm(card: 4, generation: 0), .settle, .disk(isFull: true),
            .disk(isFull: false), .stop,
        ]
        for request in requests { #expect(Request(request.line.split(separator: " ")) == request) }
        let answers: [Answer] = [
            .durable, .repeated, .memory, .settled, .unsettled, .done, .stopped(owed: 1, unstored: 2),
            .failed("no room"),
        ]
        for answer in answers { #expect(Answer(answer.line.split(separator: " ")) == answer) }
        for line in [
            "", "follow", "follow x a/1 0", "event a/1", "confirm 1 x", "setPreferences 1 x", "disk half", "dance 1",
        ] {
            #expect(Request(line.split(separator: " ")) == nil, "\(line)")
        }
    }
}
