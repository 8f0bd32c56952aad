import FanfareModel
import Testing

@testable import CrashTest

/// Parts of the rounds: requests on their way, cards on phones, full disks, and the apps of the load.
@Suite struct RoundsPartTests {
    // MARK: Requests

    @Test func aRequestWaitsUntilItsAnswerIsTaken() {
        var requests = RequestsInFlight()
        let first = requests.send(.init(request: .unfollow(card: 3), asked: 1))
        let second = requests.send(.init(request: .settle, asked: 2))
        #expect(first.number == 1 && second.number == 2 && requests.count == 2)
        let taken = requests.take(1)
        #expect(taken?.request == .unfollow(card: 3) && taken?.mayBeGone == true)
        #expect(!requests.isWaiting(for: 1) && requests.isWaiting(for: 2) && !requests.isEmpty)
        let again = requests.take(1)
        #expect(again == nil)
    }

    @Test func lostRequestsAreAskedForAgainUnlessTheyHaveToWait() {
        var requests = RequestsInFlight()
        for card in 0..<20 { _ = requests.send(.init(request: .unfollow(card: card), asked: card)) }
        let lost = requests.takeLost()
        #expect(lost.map(\.asked) == Array(0..<20) && requests.isEmpty)
        for entry in lost.prefix(2) { requests.askAgain(entry) }
        let other = requests.sendAgain { $0.card == 0 }
        #expect(other?.request == .unfollow(card: 1) && other?.number == 21)
        let none = requests.sendAgain { $0.card == 0 }
        #expect(none == nil && !requests.isEmpty)
        let last = requests.sendAgain { _ in false }
        #expect(last?.request == .unfollow(card: 0))
    }

    @Test func aKnownCallIsAnsweredAsARepeatedOneAndANewCallIsNot() {
        let start = Request.start(card: 3, audience: ["match/1"])
        let new = RequestsInFlight.Entry(request: start, asked: 1)
        let again = RequestsInFlight.Entry(request: start, asked: 2, isRepeat: true)
        #expect(new.fault(of: .durable) == nil && new.fault(of: .repeated) != nil && !new.mayBeGone)
        #expect(again.fault(of: .repeated) == nil && again.fault(of: .durable) != nil)
        // An event has an id, and its repetition the answer of a new one.
        let event = Request.change(.event, topic: "match/1", number: 8)
        let eventAgain = RequestsInFlight.Entry(request: event, asked: 3, isRepeat: true)
        #expect(eventAgain.fault(of: .durable) == nil)
    }

    @Test func aCallWhoseAnswerIsLostMayBeKnownOrNew() {
        var requests = RequestsInFlight()
        requests.askAgain(.init(request: .start(card: 3, audience: ["match/1"]), asked: 1))
        let sent = requests.sendAgain { _ in false }
        let entry = requests.take(sent?.number ?? 0)
        #expect(entry?.mayBeKnown == true && entry?.mayBeGone == true)
        let faults = [Answer.durable, .repeated].compactMap { entry?.fault(of: $0) }
        #expect(faults.isEmpty, "\(faults)")
    }

    // MARK: Idempotency keys

    @Test func callsOfDifferentEffectsHaveDifferentKeys() {
        let keyed: [Request] = [
            .order(.mute, topic: "match/1", call: 7), .order(.mute, topic: "match/1", call: 8),
            .start(card: 3, audience: ["match/1"]), .start(card: 4, audience: ["match/1"]),
            .change(.publish, topic: "match/1", number: 2), .change(.correct, topic: "match/1", number: 4),
            .change(.alert, topic: "match/1", number: 8),
        ]
        let keys = Set(keyed.compactMap(\.key))
        #expect(keys.count == keyed.count)
        let others: [Request] = [
            .change(.event, topic: "match/1", number: 8), .change(.end, topic: "match/1", number: 8),
            .change(.alert, topic: "crowd/0", number: 8), .change(.publish, topic: "match/1", number: 3),
            .unfollow(card: 3), .setPreferences(card: 3, .alerts), .settle,
        ]
        let none = others.compactMap(\.key)
        #expect(none.isEmpty, "\(none)")
    }

    @Test func theNewestCallsWithKeysAreRepeated() {
        var keyed = KeyedRequests()
        var random = SplitMix64(seed: 1)
        let count = KeyedRequests.keptMax + 10
        for card in 0..<count { keyed.note(.durable, to: .start(card: card, audience: ["match/1"]), isRepeat: false) }
        keyed.note(.durable, to: .unfollow(card: 1), isRepeat: false)
        keyed.note(.memory, to: .start(card: count, audience: ["match/1"]), isRepeat: false)
        keyed.note(.repeated, to: .start(card: count - 1, audience: ["match/1"]), isRepeat: true)
        let cards = keyed.drawn(by: &random).compactMap(\.card)
        #expect(cards.sorted() == Array(10..<count) && keyed.repeats == 1 && keyed.lost == 0)
        keyed.note(.repeated, to: .start(card: count, audience: ["match/1"]), isRepeat: false)
        #expect(keyed.lost == 1)
    }

    @Test func startsWhoseAnswersAKillSwallowsAreAskedForAgain() {
        var load = Load(seed: 7)
        load.begin(round: 1, at: 0)
        var started: Set<Int> = []
        for _ in 0..<2000 {
            if case .start(let card, _)? = load.next(at: 0)?.request { started.insert(card) }
        }
        load.killed(in: [])
        load.begin(round: 2, at: 0)
        var again: Set<Int> = []
        for _ in 0..<2000 {
            guard let next = load.next(at: 0) else { continue }
            guard case .start(let card, _) = next.request, started.contains(card) else { continue }
            again.insert(card)
            load.take(.repeated, to: next.number, at: 0)
        }
        #expect(!again.isEmpty && again.count < started.count)
        let acknowledged = again.filter { load.history.cards[$0].start?.acknowledged != nil }
        #expect(acknowledged == again && load.history.complaints.isEmpty, "\(load.history.complaints)")
    }

    // MARK: Aims

    /// The kills of every fourth place wait for full disks, whatever their aim.
    @Test func eachPeriodOfRoundsAimsAtEveryPhaseThatARunMustMeet() {
        for first in 1...30 {
            var random = SplitMix64(seed: UInt64(first))
            var (early, late): ([Aim], [Aim]) = ([], [])
            for place in first..<first + Aim.period {
                let aims = Aim.drawn(&random, place: place)
                if let aim = aims.early { early.append(aim) }
                if !place.isMultiple(of: 4) { late.append(aims.late) }
            }
            let isLoadingMet = early.contains(.loading)
            let missing = [Aim.commit, .sweep, .start].filter { !late.contains($0) }
            #expect(isLoadingMet && missing.isEmpty, "from \(first): \(missing)")
        }
    }

    @Test func theAimsThatKillsHaveMissedAreNamed() {
        var misses = AimMisses()
        #expect(misses.text == "0 kills missed the phase that they were to meet")
        misses.note(.anywhere, metIn: [])
        misses.note(.commit, metIn: [.sweep, .people])
        for phases in [[], [Phase.entries]] { misses.note(.loading, metIn: phases) }
        misses.note(.sweep, metIn: [.start])
        #expect(misses.text == "3 kills missed the phase that they were to meet: 2 loading, 1 sweep")
    }

    // MARK: Cards

    @Test func aRemovedCardIsDrawnNoMore() {
        var shown = ShownCards()
        var random = SplitMix64(seed: 1)
        let none = shown.drawn(by: &random)
        #expect(none == nil)
        for card in [1, 2, 3, 3] { shown.insert(card) }
        shown.remove(1)
        shown.remove(7)
        let drawn = Set((0..<100).map { _ in shown.drawn(by: &random) })
        #expect(drawn == [2, 3])
        shown.remove(3)
        shown.remove(2)
        let last = shown.drawn(by: &random)
        #expect(last == nil)
    }

    // MARK: Full disks

    @Test func aFullDiskHoldsRequestsBackIfNoAnswerComesForAWhile() {
        var disks = FullDisks()
        disks.begin(at: 0, askedAt: 0)
        disks.note(3, at: 80_000_000)
        disks.note(0, at: 160_000_000)
        #expect(disks.held == 0)
        disks.note(0, at: 170_000_000)
        disks.note(0, at: 400_000_000)
        disks.end()
        let afterItsEnd = disks.kill()
        #expect(disks.count == 1 && disks.held == 1 && disks.kills == 0 && afterItsEnd == nil)
    }

    @Test func alertsMayLeaveWithoutClaimsLongAfterTheDiskWasToBeFull() {
        var disks = FullDisks()
        disks.begin(at: 300_000_000, askedAt: 1000)
        let unclaimed = disks.kill()
        #expect(unclaimed == 1_800_001_000 && disks.kills == 1 && disks.fullSince == nil)
        let again = disks.kill()
        #expect(again == nil && disks.kills == 1)
    }

    // MARK: The load

    @Test func nothingIsAskedOfAnAppThatALifeLacks() {
        var load = Load(seed: 7)
        let lives: [Set<CardApp>] = [[.first, .second], [.first], [.first, .second]]
        for (round, apps) in lives.enumerated() {
            load.begin(round: round + 1, at: 0, apps: apps)
            var asked: Set<CardApp> = []
            for _ in 0..<2000 {
                guard let next = load.next(at: 0) else { continue }
                if let card = next.request.card { asked.insert(CardApp(card: card)) }
                // The kill swallows some answers, and their requests are asked for again.
                if !next.number.isMultiple(of: 10) { load.take(.durable, to: next.number, at: 0) }
            }
            #expect(asked == apps, "life \(round)")
            load.killed(in: [])
        }
        #expect(load.history.complaints.isEmpty, "\(load.history.complaints)")
    }

    @Test func onlyAProgramThatOwesNothingHasStoppedInOrder() {
        for (owed, isStopped) in [(0, true), (1, false)] {
            var load = Load(seed: 7)
            load.begin(round: 1, at: 0)
            let stop = load.ask(.stop)
            load.take(.stopped(owed: owed, unstored: 0), to: stop.number, at: 0)
            #expect(load.history.lives[0].isStopped == isStopped)
        }
    }

    @Test func aSeedDrawsTheSameRequestsAgain() {
        func lines() -> [String] {
            var load = Load(seed: 11)
            load.begin(round: 1, at: 0)
            var lines: [String] = []
            for _ in 0..<1000 {
                guard let next = load.next(at: 0) else { continue }
                lines.append(next.request.line)
                load.take(.durable, to: next.number, at: 0)
            }
            return lines + load.lastChanges().map { $0.request.line }
        }
        #expect(lines() == lines())
    }

    @Test func cardsOfASubscriberMayBeOfTwoApps() {
        #expect(
            (0..<8).map { CardApp(card: $0) } == [.first, .first, .first, .second, .first, .first, .first, .second])
        #expect(CardApp.first.id != CardApp.second.id && Names.subscriber(of: 2) == Names.subscriber(of: 3))
    }
}
