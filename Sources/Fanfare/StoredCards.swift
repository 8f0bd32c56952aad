import FanfareFanOut
import FanfareLog
import FanfareLoop
import FanfareModel

/// People of an engine's store, as the source from which its shards are loaded: slice by slice, so that few cards are in memory beside the
/// shards.
final class StoredCards: SubscriberSource {
    private struct Found {
        var leaving: [Card] = []
        var starting: [Card] = []
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
                case .starting: found.starting.append(card)
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

    /// Cards of starts that had no answer.
    var starting: [Card] { found.withLock(\.starting) }

    /// Lines for operators about rows that cannot be read.
    var faults: [String] {
        found.withLock { found in
            found.fault.map { ["\(found.damaged) cards of the store cannot be read, and are left out: \($0)"] } ?? []
        }
    }

    /// Ends the cards whose end may not have left.
    func endLeaving(in core: EngineCore, apps: [AppID]) {
        for card in found.withLock(\.leaving) {
            let app = card.app.flatMap { apps.firstIndex(of: $0) } ?? 0
            core.send(.unfollow(card.id), forSubscriber: card.subscription().subscriber, app: app)
        }
        found.withLock { $0.leaving = [] }
    }
}
