import FanfareFanOut
import FanfareLog
import FanfareModel

/// Starts of the process before this one that have no token, once all cards of the store are loaded: starts that have not left go on, and the others
/// are given up. There may be a million, so each turn of the core takes some.
final class StartResumption {
    private let earlier: EarlierProcess
    private var cards: ArraySlice<Card>
    private var areOver: [AudienceKey: Bool] = [:]
    private var due = 0
    private var givenUp: [(card: Card, failure: StartFailure)] = []
    private var unnamed: [AppID?: [StartMark]] = [:]
    private var unneeded: [Card] = []
    /// Cards that may have been started, by the bits of their ids.
    private var uncertain: [UInt64] = []

    private static let cardsPerTurn = 512

    init(_ cards: [Card], after earlier: EarlierProcess) {
        self.cards = cards[...]
        self.earlier = earlier
    }

    /// Checks as many of the next cards as the shards have room for, and makes the starts due that have not left.
    ///
    /// - Returns: `true` if there are more.
    func resume(in core: EngineCore) -> Bool {
        var left = StartResumption.cardsPerTurn
        while left > 0, !core.isCongested, let card = cards.popFirst() {
            left -= 1
            resume(card, in: core)
        }
        return !cards.isEmpty
    }

    private func resume(_ card: Card, in core: EngineCore) {
        let app = core.apps.id(of: 0).map { card.app ?? $0 }
        guard let request = card.request else { return giveUp(card, .uncertain) }
        let mark = StartMark(ActivityMark(card.id, token: card.token), number: request.number)
        let isClaimed = earlier.isClaimed(mark, app: app)
        guard earlier.knowsStarts, !isClaimed else {
            if !isClaimed { unnamed[app, default: []].append(mark) }
            return giveUp(card, .uncertain)
        }
        // A start for an app that this engine lacks stays for another engine.
        if let app, !core.apps.ids.contains(app) { return }
        let isOver =
            areOver[card.audience] ?? card.audience.topics.allSatisfy { core.state(of: $0)?.isEnded ?? false }
        areOver[card.audience] = isOver
        if isOver {
            giveUp(card, .over)
        } else if isTooOld(card, at: core.now) {
            giveUp(card, .waitedTooLong)
        } else {
            start(card, in: core)
        }
    }

    private func giveUp(_ card: Card, _ failure: StartFailure) {
        givenUp.append((card, failure))
        if failure == .uncertain { uncertain.append(card.id.rawValue) } else { unneeded.append(card) }
    }

    /// Removes and returns the cards whose starts were given up since the last call and have certainly not left. Their rows are removed before the
    /// rows of calls that start the same cards.
    func takeUnneeded() -> [Card] {
        defer { unneeded = [] }
        return unneeded
    }

    /// Removes and returns the ids' bits of the cards that may have been started. Called once all cards have been checked.
    func takeUncertain() -> [UInt64] {
        defer { uncertain = [] }
        return uncertain
    }

    /// Returns whether a start was requested too long ago. Log time decides, because a wrong wall clock must not give all starts up.
    private func isTooOld(_ card: Card, at now: FeedTime) -> Bool {
        // Log time begins with the log's first event.
        guard let asked = card.joinedAt, asked > FeedTime.plausible.lowerBound else { return false }
        return now - asked >= StartRequest.patience
    }

    private func start(_ card: Card, in core: EngineCore) {
        guard let request = card.request else { return }
        due += 1
        let app = card.app.flatMap { core.apps.ids.firstIndex(of: $0) } ?? 0
        let subscriber = card.subscription().subscriber
        core.send(.start(request, card.audience), forSubscriber: subscriber, app: app)
        guard let preferences = card.preferences else { return }
        core.send(.setPreferences(card.id, preferences), forSubscriber: subscriber, app: app)
    }

    /// Returns claims of given-up starts that no claim names. They must be durable before the starts are given up, so that no later process starts
    /// cards whose rows remain.
    func claims(at now: FeedTime) -> [StoredClaims] {
        unnamed.map { StoredClaims([], starts: $1, app: $0, now: now) }
    }

    /// Line for operators; `nil` if there is nothing to say. Read once all cards have been checked.
    var report: String? {
        guard due > 0 || !givenUp.isEmpty else { return nil }
        return
            "starts of the process before this one: \(due) had not left, and go on; \(givenUp.count) are given up, most of them because they "
            + "may have left"
    }

    /// Removes and returns some given-up starts; none at the end.
    func takeGivenUp() -> [(card: Card, failure: StartFailure)] {
        let taken = Array(givenUp.suffix(StartResumption.cardsPerTurn))
        givenUp.removeLast(taken.count)
        return taken
    }
}
