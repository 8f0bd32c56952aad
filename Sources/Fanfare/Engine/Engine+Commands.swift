import FanfareFanOut
import FanfareLog
import FanfareLoop
public import FanfareModel

extension Engine {
    /// Hands in a feed event at once or not at all, in constant time and without waiting: the fastest way.
    ///
    /// - Complexity: O(1).
    public func offer(_ event: FeedEvent) -> Admission { post(.event(event)) }

    /// Hands in a command at once or not at all.
    ///
    /// - Complexity: O(n + a), n being the size of the command and a the number of the engine's apps.
    public func offer(_ command: Command) -> Admission {
        switch request(for: command) {
        case .success(let request): return post(request)
        case .failure(let error):
            guard case .refused(let refusal) = error else { return .stopped }
            return .refused(refusal)
        }
    }

    /// Waits for room, after all callers that wait already, and hands the command in.
    ///
    /// - Parameters:
    ///   - command: checked before the wait.
    ///   - patience: longest wait for room; `nil`: no limit.
    /// - Returns: the receipt. With a store, the receipt of every command but `confirmDeadTokens` comes when the command is durable; a task that is
    ///   cancelled in the meantime gets a receipt that says `prompt`.
    /// - Throws: `.full` if there was no room in time, `.stopped`, `.cancelled` or `.refused`. The engine has taken nothing then, with one exception:
    ///   with a store, `.stopped` may also mean that the store took nothing in time.
    /// - Complexity: that of `offer(_:)`, apart from the wait.
    public func send(_ command: Command, within patience: Duration? = nil) async throws(EngineError) -> Receipt {
        try await hand(in: request(for: command).get(), until: patience.map(core.time(in:)) ?? .never)
    }

    /// Waits until an offer that was answered with `full` may be repeated. There is then room for one command, which another caller may take first.
    ///
    /// - Parameter command: the command that was offered; `nil` waits until there is room for any. In an engine with a store, changes of
    ///   cards may have to wait for a disk that has room for events.
    /// - Throws: `.stopped` or `.cancelled`; `.refused` for a command that can never be carried out.
    public func room(for command: Command? = nil) async throws(EngineError) {
        var offered: CoreRequest?
        if let command { offered = try request(for: command).get() }
        switch await core.inbox.room(for: offered, wake: { core.signal.signal() }) {
        case .admitted: return
        case .late: throw .full
        case .stopped: throw .stopped
        case .cancelled: throw .cancelled
        }
    }

    func request(for command: Command) -> Result<CoreRequest, EngineError> {
        let request = keylessRequest(for: command)
        guard let key = command.key else { return request }
        return request.map { .keyed(CallKey(key, content: command.content), $0, nil) }
    }

    private func keylessRequest(for command: Command) -> Result<CoreRequest, EngineError> {
        index(of: command.app).flatMap { app in
            switch command.body {
            case .event(let event): .success(.event(event))
            case .happening(let make): .success(.eventNow(make))
            case .follow(let subscription, let subscriber):
                .success(kept(.follow(subscription, app: app), as: call(of: subscriber).entry(subscription)))
            case .card(let card, let subscriber):
                .success(
                    kept(
                        .command(card, subscriber: subscriber.key, app: app), as: call(of: subscriber).entry(card)))
            case .confirmDeadTokens: .success(.confirmDeadTokens)
            case .refused(let refusal): .failure(.refused(refusal))
            }
        }
    }

    /// - Parameter app: `nil` stands for the first app, even if the engine pushes to none.
    func index(of app: AppID?) -> Result<Int, EngineError> {
        guard let app else { return .success(0) }
        guard let index = core.apps.firstIndex(of: app) else {
            return .failure(.refused(Refusal(.app, "this engine does not push to the app \(app)")))
        }
        return .success(index)
    }
}

/// Entries of an engine with a store, which say how a call changes a card.
extension Engine {
    /// Returns the request; with its entry if there is a store, and the id has its text.
    private func kept(_ request: CoreRequest, as entry: @autoclosure () -> PeopleEntry?) -> CoreRequest {
        guard core.inbox.hasStore, let entry = entry() else { return request }
        return .person(entry, request, nil)
    }

    /// Returns the call of a subscriber at this moment.
    private func call(of subscriber: SubscriberID) -> PeopleCall {
        PeopleCall(subscriber: subscriber, firstApp: core.apps.first, now: core.clock.wall())
    }
}
