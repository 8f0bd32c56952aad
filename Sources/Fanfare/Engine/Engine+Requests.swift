import FanfareLog
import FanfareLoop
import FanfareModel

/// The way of requests into the inbox, and back to their callers with the core's answers.
extension Engine {
    func hand(in request: CoreRequest, until: MonotonicTime) async throws(EngineError) -> Receipt {
        if case .person(let entry, let change, nil) = request {
            return try await hand(in: change, keeping: entry, until: until)
        }
        if case .keyed(let key, let change, nil) = request {
            return try await hand(in: change, under: key, until: until)
        }
        guard core.inbox.hasStore, request.isLogged else {
            return try await queue(request, until: until)
        }
        // The inner `nil` of the reply is the engine's: it has stopped before the entry was known to be durable.
        let reply = Reply<UInt64?>()
        let receipt = try await queue(.acknowledged(request) { reply.give(.some($0)) }, until: until)
        // A cancelled task does not wait for its entry.
        guard let answer = await reply.value() else { return receipt }
        guard let entry = answer else { throw .stopped }
        return Receipt(position: receipt.position, durability: .durable, entry: Receipt.EntryPosition(entry))
    }

    /// Waits for room only.
    func queue(_ request: CoreRequest, until: MonotonicTime) async throws(EngineError) -> Receipt {
        try await core.inbox.post(request, until: until) { core.signal.signal() }
    }

    /// Hands in a change of a card, and waits until the store keeps it.
    private func hand(
        in change: CoreRequest, keeping entry: PeopleEntry, until: MonotonicTime
    ) async throws(EngineError) -> Receipt {
        let reply = Reply<Bool?>()
        let request = CoreRequest.person(entry, change) { reply.give(.some($0)) }
        let receipt = try await queue(request, until: until)
        guard let answer = await reply.value() else { return receipt }
        guard let isKept = answer else { throw .stopped }
        return Receipt(position: receipt.position, durability: isKept ? .durable : .memory)
    }

    /// Hands in a call with a key, and waits until the core has found the key and the store keeps the call.
    private func hand(
        in change: CoreRequest, under key: CallKey, until: MonotonicTime
    ) async throws(EngineError) -> Receipt {
        let reply = Reply<KeyedAnswer>()
        let receipt = try await queue(.keyed(key, change) { reply.give($0) }, until: until)
        guard let answer = await reply.value() else { return receipt }
        func keeping(_ entry: LogPosition?, of position: UInt64? = nil, isRepeat: Bool = false) -> Receipt {
            Receipt(
                position: position ?? receipt.position, durability: entry == nil ? .memory : .durable,
                entry: entry.map { Receipt.EntryPosition($0) }, isRepeat: isRepeat)
        }
        switch answer {
        case .taken(let entry): return keeping(entry)
        case .repeated(let first): return keeping(first.entry, of: first.position, isRepeat: true)
        case .differs(let first): throw .refused(Refusal(key.key, isOf: first))
        case .dropped: throw .full
        case .stopped: throw .stopped
        }
    }

    func post(_ request: CoreRequest) -> Admission {
        let admission = core.inbox.post(request)
        if case .taken = admission { core.signal.signal() }
        return admission
    }
}

extension Refusal {
    /// - Parameter call: the first call with the key.
    fileprivate init(_ key: IdempotencyKey, isOf call: KnownKeys.Call) {
        let place = call.entry.map { "entry \($0) of the store" } ?? call.position.map { "position \($0)" }
        let first = place.map { ", at \($0)" } ?? ""
        self.init(
            .key,
            "the idempotency key \(String(reflecting: key.description)) is that of another call with another content, taken at \(call.at)"
                + "\(first); give each call a key of its own")
    }
}
