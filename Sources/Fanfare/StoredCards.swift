import FanfareFanOut
import FanfareLog
import FanfareLoop
import FanfareModel

/// People of an engine's store, as the source from which its shards are loaded: slice by slice, so that few cards are in memory beside the
/// shards.
final class StoredCards: SubscriberSource {
    private struct Found {
        var leaving: [Card] = []
        var starting: [(key: CardKey, card: Card)] = []
        var damaged = 0
        var fault: LogError?
    }

    let register: PeopleRegister
    let expectedCount: Int
    private let others: (any SubscriberSource)?
    private let found = Locked(Found())

    /// - Parameter others: activities that the program hands in. The store's are loaded behind them, because it has the newest tokens.
    init(_ register: PeopleRegister, beside others: (any SubscriberSource)?) throws(LogError) {
        self.register = register
        self.others = others
        expectedCount = try register.count() + (others?.expectedCount ?? 0)
    }

    func read(_ take: (Subscription) -> String?) throws {
        try others?.read(take)
        var found = Found()
        try register.load { row in
            switch row {
            case .success((let key, let card)):
                switch card.phase {
                case .starting: found.starting.append((key, card))
                case .leaving:
                    if take(card.subscription(key)) == nil { found.leaving.append(card) }
                case .shown: _ = take(card.subscription(key))
                }
            case .failure(let error):
                found.damaged += 1
                found.fault = found.fault ?? error
            }
        }
        let result = found
        self.found.withLock { $0 = result }
    }

    /// Makes the starts due again that have not left.
    ///
    /// - Returns: their number, and the cards of the others, which are not started again. Durable claims name those that may have left, so that no
    ///   later process starts them if their rows are there still.
    func resumeStarts(
        in core: EngineCore, after earlier: EarlierProcess, _ claims: any ClaimStore
    ) throws(LogError) -> (due: Int, givenUp: [(card: Card, failure: StartFailure)]) {
        let cards = found.withLock { found in
            defer { found.starting = [] }
            return found.starting
        }
        var due: [Card] = []
        var givenUp: [(card: Card, failure: StartFailure)] = []
        var older: [(key: CardKey, card: Card)] = []
        var unnamed: [AppID?: [StartMark]] = [:]
        var areOver: [AudienceKey: Bool] = [:]
        for (key, card) in cards {
            // Another card with its name counts, which an import has brought, for example.
            guard try register.isNewest(card, at: key) else {
                older.append((key, card))
                continue
            }
            let app = core.apps.isEmpty ? nil : card.app ?? core.apps[0]
            guard let request = card.request else {
                givenUp.append((card, .uncertain))
                continue
            }
            let mark = StartMark(ActivityMark(card.id, token: card.token), number: request.number)
            let isClaimed = earlier.isClaimed(mark, app: app)
            guard earlier.knowsStarts, !isClaimed else {
                givenUp.append((card, .uncertain))
                if !isClaimed { unnamed[app, default: []].append(mark) }
                continue
            }
            // Those of an app that the engine does not push to stay for one that does.
            if let app, !core.apps.contains(app) { continue }
            let isOver =
                areOver[card.audience]
                ?? card.audience.topics.allSatisfy { core.state(of: $0)?.isEnded ?? false }
            areOver[card.audience] = isOver
            if isOver {
                givenUp.append((card, .over))
            } else if isTooOld(card, at: core.now) {
                givenUp.append((card, .waitedTooLong))
            } else {
                due.append(card)
            }
        }
        try claims.append(unnamed.map { StoredClaims([], starts: $1, app: $0, now: core.now) })
        // They are passed over again if the disk does not take it.
        try? register.remove(older)
        for card in due { start(card, in: core) }
        return (due.count, givenUp)
    }

    /// Goes by log time, because a wall clock that is wrong must not give all starts up.
    private func isTooOld(_ card: Card, at now: FeedTime) -> Bool {
        // Log time begins with the log's first event.
        guard let asked = card.joinedAt, asked > FeedTime.plausible.lowerBound else { return false }
        return now - asked >= StartRequest.patience
    }

    private func start(_ card: Card, in core: EngineCore) {
        guard let request = card.request else { return }
        StoredCards.send(.start(request, card.audience), for: card, to: core, apps: core.apps)
        guard let preferences = card.preferences else { return }
        StoredCards.send(.prefer(card.id, preferences), for: card, to: core, apps: core.apps)
    }

    /// Lines for operators about rows that cannot be read.
    var faults: [String] {
        found.withLock { found in
            found.fault.map { ["\(found.damaged) cards of the store cannot be read, and are left out: \($0)"] } ?? []
        }
    }

    /// Ends the cards whose end may not have left.
    func endLeaving(in core: EngineCore, apps: [AppID]) {
        for card in found.withLock(\.leaving) { StoredCards.send(.unfollow(card.id), for: card, to: core, apps: apps) }
        found.withLock { $0.leaving = [] }
    }

    private static func send(_ command: ShardCommand, for card: Card, to core: EngineCore, apps: [AppID]) {
        let app = card.app.flatMap { apps.firstIndex(of: $0) } ?? 0
        core.send(command, forSubscriber: card.subscription().subscriber, app: app)
    }
}
