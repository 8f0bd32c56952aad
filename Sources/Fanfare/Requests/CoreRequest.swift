package import FanfareFanOut
package import FanfareLog
package import FanfareModel

/// Request of another thread, which the core's thread carries out.
package enum CoreRequest: Sendable {
    case event(FeedEvent)
    /// Request that changes decisions, of a caller that waits until it is durable. Only an engine with a store takes it.
    indirect case acknowledged(CoreRequest, EntryAcknowledgement)
    /// Request that changes a card, and its entry. Only an engine with a store takes it.
    indirect case person(PeopleEntry, CoreRequest, PersonAcknowledgement?)
    /// Request whose caller has given a key, and waits for the answer if there is one.
    indirect case keyed(CallKey, CoreRequest, KeyedAcknowledgement?)
    /// Repeated call of a key. Only the core makes this request, in an engine with a store.
    case repeated(KnownKeys.Call, KeyedAcknowledgement?, isChange: Bool)
    /// Change of a card that is not carried out, because the process before may have started the card. Only an engine with a store has one.
    case passedOver(ActivityID)
    /// Event that happens when the core takes it.
    case eventNow(@Sendable (_ now: FeedTime) -> FeedEvent)
    case command(ShardCommand, subscriber: UInt64, app: Int)
    case follow(Subscription, app: Int)
    case confirmDeadTokens
    case counts(@Sendable (ShardCounts) -> Void)
    case freshness(@Sendable (FreshnessReport) -> Void)
    case disposition(
        ActivityID, subscriber: UInt64, app: Int, cause: String, TopicID, @Sendable (AlertDisposition?) -> Void)
    /// Question whether every activity has all earlier content. The core answers it by that time, or in the next turn after that time.
    case settle(until: MonotonicTime, @Sendable (Settlement) -> Void)
    case topicState(TopicID, @Sendable (TopicState?) -> Void)
}

extension CoreRequest {
    /// Is `true` if a store keeps the request's change.
    var isLogged: Bool {
        switch self {
        case .event, .eventNow, .acknowledged, .person, .keyed: true
        case .command, .follow, .confirmDeadTokens, .counts, .freshness, .disposition, .settle, .topicState, .repeated,
            .passedOver:
            false
        }
    }

    /// Is `true` if the request is about cards and makes no entry: such a request waits until all cards of the store are loaded.
    var isOfCards: Bool {
        switch self {
        case .counts, .freshness, .topicState, .confirmDeadTokens: false
        case .repeated(_, _, let isChange): isChange
        default: true
        }
    }

    /// Is `true` for a question about cards.
    var isQuestion: Bool {
        switch self {
        case .settle, .disposition: true
        default: false
        }
    }

    /// Answers a question about cards without knowing them.
    func decline() {
        switch self {
        case .settle(_, let settled): settled(.unknown)
        case .disposition(_, _, _, _, _, let answer): answer(nil)
        default: break
        }
    }

    /// Is `true` if the request changes a card that a store keeps.
    var changesCard: Bool {
        switch self {
        case .person: true
        case .acknowledged(let request, _), .keyed(_, let request, _): request.changesCard
        case .event, .eventNow, .command, .follow, .confirmDeadTokens, .counts, .freshness, .disposition, .settle,
            .topicState, .repeated, .passedOver:
            false
        }
    }

    /// Returns the reason why the request cannot be carried out; `nil` if it can.
    func fault(topicIDSizeMax: ByteCount) -> CommandFault? {
        switch self {
        case .command(let command, _, _): command.fault(topicIDSizeMax: topicIDSizeMax)
        case .follow(let new, _):
            ShardCommand.follow(new.activity, new.audience, token: new.token).fault(topicIDSizeMax: topicIDSizeMax)
        case .acknowledged(let request, _), .person(_, let request, _), .keyed(_, let request, _):
            request.fault(topicIDSizeMax: topicIDSizeMax)
        case .event, .eventNow, .confirmDeadTokens, .counts, .freshness, .disposition, .settle, .topicState, .repeated,
            .passedOver:
            nil
        }
    }
}

extension FeedEvent {
    /// Creates an event that happens when the core takes it.
    ///
    /// - Parameters:
    ///   - make: makes the event of its time.
    ///   - now: log time.
    ///   - wall: time of the wall clock.
    init(happening make: (FeedTime) -> FeedEvent, at now: FeedTime, wall: FeedTime) {
        self = make(now)
        // Log time may lie behind the wall clock that feeds use. An operator's correction must not look older than the feed's events.
        if isCorrection, at == now { at = max(now, wall) }
    }
}
