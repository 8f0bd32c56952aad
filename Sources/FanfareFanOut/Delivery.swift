public import FanfareModel

/// Position of an activity in its shard's store. Reused after an activity has gone; the generation tells which one is meant.
@usableFromInline package struct ActivitySlot: Hashable, Sendable {
    @usableFromInline package let rawValue: UInt32
    @usableFromInline package init(_ rawValue: UInt32) { self.rawValue = rawValue }
}

/// What pushes carry: one content state, stamped, with or without an alert. Made once and shared by every delivery of the
/// same variant, so whatever costs time here is paid once per update and not once per phone.
///
/// A lineup of one member has a payload for that push alone. So a batch writes a payload that nobody holds any more over
/// with the next one, in the room that its bytes had. Whoever keeps a payload, or its bytes, keeps them as they are.
///
/// Confined to its shard's thread.
@usableFromInline package final class Payload {
    @usableFromInline package enum Event: Sendable { case start, update, end }

    /// What a start has beside its content state: what the new activity is, and how it hears of updates.
    @usableFromInline package struct Start: Sendable, Hashable {
        /// iOS 18 and newer.
        package enum Updates: Sendable, Hashable {
            /// The phone gives the app an update token, which the app reports to us.
            case token
            /// The phone subscribes the activity to this channel (its id, base64). Older phones start nothing at all then.
            case channel(String)
        }

        /// Name of the app's attributes struct, as it is spelt there.
        package var attributesType: String
        /// The attributes, a JSON object.
        package var attributes: [UInt8]
        /// `nil` asks for neither; the app may still report a token of its own accord.
        package var updates: Updates?
        /// Starts with one id that wait for a phone become one card. At most 64 bytes.
        package var collapseID: String?

        package init(attributesType: String, attributes: [UInt8], updates: Updates?, collapseID: String?) {
            self.attributesType = attributesType
            self.attributes = attributes
            self.updates = updates
            self.collapseID = collapseID
        }
    }

    /// All but the bytes.
    @usableFromInline struct Head {
        @usableFromInline let event: Event
        @usableFromInline let subject: String
        @usableFromInline let stamp: Int64
        @usableFromInline let staleDate: Int64?
        @usableFromInline let dismissalDate: Int64?
        @usableFromInline let alert: AlertText?
        @usableFromInline let priority: Priority
        @usableFromInline let relevanceScore: Double?
        @usableFromInline let start: Start?
    }

    // Unchecked for the reason given in `Shard`. Other modules would check nevertheless, so they see what is inlined.
    @usableFromInline @exclusivity(unchecked) private(set) var head: Head
    @usableFromInline @exclusivity(unchecked) var stateBytes: [UInt8]

    @inlinable package var event: Event { head.event }
    /// The topic, of a lineup the one in its spotlight: for messages to people only.
    @inlinable package var subject: String { head.subject }
    /// The content state, canonical JSON. Empty on an end that leaves the card as it is: the key is then omitted.
    @inlinable package var state: [UInt8] { stateBytes }
    /// `aps.timestamp`, Unix seconds.
    @inlinable package var stamp: Int64 { head.stamp }
    /// Unix seconds.
    @inlinable package var staleDate: Int64? { head.staleDate }
    /// Unix seconds; ends only.
    @inlinable package var dismissalDate: Int64? { head.dismissalDate }
    @inlinable package var alert: AlertText? { head.alert }
    @inlinable package var priority: Priority { head.priority }
    /// Among this app's activities on a phone the highest has the Dynamic Island.
    @inlinable package var relevanceScore: Double? { head.relevanceScore }
    /// Starts only.
    @inlinable package var start: Start? { head.start }
    /// The request body, encoded by the transport on first use.
    package var wire: [UInt8] = []
    package var isEncoded = false

    package convenience init(
        event: Event, subject: String, state: [UInt8], stamp: Int64, staleDate: Int64?, dismissalDate: Int64?,
        alert: AlertText?, priority: Priority, relevanceScore: Double? = nil, start: Start? = nil
    ) {
        self.init(
            Head(
                event: event, subject: subject, stamp: stamp, staleDate: staleDate, dismissalDate: dismissalDate,
                alert: alert, priority: priority, relevanceScore: relevanceScore, start: start), state)
    }

    fileprivate init(_ head: Head, _ state: [UInt8] = []) {
        self.head = head
        stateBytes = state
    }

    /// The state is written apart.
    fileprivate func rewrite(_ head: Head) {
        self.head = head
        isEncoded = false
    }
}

/// One push that a transport has been asked to make. Plain numbers: a batch of them costs no reference counting.
@usableFromInline package struct Delivery: Sendable {
    package let slot: ActivitySlot
    /// Of the slot; a completion of an older generation is ignored.
    package let generation: UInt32
    /// Which of the batch's `payloads`.
    let payload: Int32
    /// Where this activity's token stands in the batch's `tokens`.
    let tokenStart: Int32
    let tokenCount: Int32

    @usableFromInline package var token: Range<Int> { Int(tokenStart)..<Int(tokenStart + tokenCount) }
}

/// Deliveries pulled together. Reused from pull to pull, so that a push allocates nothing.
@usableFromInline package struct DeliveryBatch {
    package internal(set) var deliveries: [Delivery] = []
    /// Each followed by deliveries that carry it. Sweeps hand out the same payload again and again.
    private var payloads: [Payload] = []
    /// Of batches before, to be written over.
    private var spare: [Payload] = []
    /// As many as a pull brings. More would be those of a source that makes its payloads itself, and takes none of these.
    static let spareMax = 1024
    /// Token bytes (not hex) of all deliveries, back to back. Secrets.
    package internal(set) var tokens: [UInt8] = []

    package init() {}

    package mutating func append(
        slot: ActivitySlot, generation: UInt32, payload: Payload, token: some Sequence<UInt8>
    ) {
        let start = tokens.count
        tokens.append(contentsOf: token)
        deliveries.append(
            Delivery(
                slot: slot, generation: generation, payload: index(of: payload), tokenStart: Int32(start),
                tokenCount: Int32(tokens.count - start)))
    }

    /// - Parameter payload: `index(of:)` it.
    mutating func append(
        slot: ActivitySlot, generation: UInt32, payload: Int32, token: TokenStore.Reference, of store: TokenStore
    ) {
        deliveries.append(
            Delivery(
                slot: slot, generation: generation, payload: payload, tokenStart: Int32(tokens.count),
                tokenCount: Int32(token.count)))
        store.copy(token, to: &tokens)
    }

    /// The payload's place among the batch's, for the deliveries that are appended next.
    mutating func index(of payload: Payload) -> Int32 {
        if payloads.last !== payload { payloads.append(payload) }
        return Int32(payloads.count - 1)
    }

    /// - Parameter delivery: one of this batch.
    @usableFromInline package func payload(of delivery: Delivery) -> Payload { payloads[Int(delivery.payload)] }

    /// The deliveries from `start` on that carry one payload, so that what follows from it is looked up once for all.
    @usableFromInline package func run(from start: Int) -> Range<Int> {
        let payload = deliveries[start].payload
        var end = start + 1
        while end < deliveries.count, deliveries[end].payload == payload { end += 1 }
        return start..<end
    }

    /// Sum of all tokens' bytes: what a transport without a network has to show for reading each of them.
    package var tokenSum: UInt64 {
        var sum: UInt64 = 0
        var start = 0
        // In parts whose sum fits into two bytes: a register adds four times as many at once as with eight.
        while start < tokens.count {
            let end = min(start + 256, tokens.count)
            var part: UInt16 = 0
            for byte in tokens[start..<end] { part &+= UInt16(byte) }
            sum &+= UInt64(part)
            start = end
        }
        return sum
    }

    /// A payload to be appended, whose state is still to be written over what is there.
    mutating func payload(_ head: Payload.Head) -> Payload {
        guard let payload = spare.popLast() else { return Payload(head) }
        payload.rewrite(head)
        return payload
    }

    package mutating func removeAll() {
        deliveries.removeAll(keepingCapacity: true)
        tokens.removeAll(keepingCapacity: true)
        while var payload = payloads.popLast() {
            // An audience of several keeps it for the others; a test, or a judge, for itself.
            if spare.count < DeliveryBatch.spareMax, isKnownUniquelyReferenced(&payload) { spare.append(payload) }
        }
    }
}

/// What became of one push.
@usableFromInline package enum DeliveryOutcome: Sendable, Equatable {
    /// The service has taken it. It says nothing about the phone.
    case accepted
    /// The token will never work again (410, `BadDeviceToken`, `DeviceTokenNotForTopic`).
    case deadToken
    /// Too many pushes to this token (429): this activity waits, then gets the newest state.
    case throttled
    /// Not processed, because of this push or its token (a 5xx answer, or a reset for another reason than a refused stream): this
    /// activity waits, then gets the newest state, alert and all.
    case serviceError
    /// Certainly not processed, and not for the token's sake (refused stream, above a GOAWAY's last stream, a configuration fault):
    /// may be sent again at once, alert and all.
    case notProcessed
    /// Refused for a reason that sending again does not mend: a bug of ours.
    case refused
    /// Sent, and no answer will come (connection lost, timeout): may or may not have arrived.
    case unknown

    /// Certainly: nobody has seen or heard anything of it.
    var isUnprocessed: Bool { self != .accepted && self != .unknown }
}

@usableFromInline package struct Completion: Sendable {
    @usableFromInline package let slot: ActivitySlot
    @usableFromInline package let generation: UInt32
    @usableFromInline package let outcome: DeliveryOutcome

    @usableFromInline package init(slot: ActivitySlot, generation: UInt32, outcome: DeliveryOutcome) {
        self.slot = slot
        self.generation = generation
        self.outcome = outcome
    }
}

/// Where a transport gets its work. Implemented by `Shard`; all calls are made on the shard's thread.
package protocol DeliverySource: AnyObject {
    /// Appends at most `limit` deliveries to the batch; fewer (or none) when no more is due now. Each one handed out must come
    /// back as exactly one completion.
    func pull(limit: Int, at moment: Moment, into batch: inout DeliveryBatch)
    func complete(_ completions: [Completion], at moment: Moment)
    /// How many pushes there may be at once: what is due now, or will be with the next change for the largest audience. Asked often.
    var demand: Int { get }
}

extension DeliverySource {
    /// Of a source that does not know.
    package var demand: Int { 0 }
}

/// Brings deliveries to phones, or pretends to. Lives on its shard's thread and is not `Sendable`.
///
/// Backpressure is the absence of asking: a transport pulls when it has room (a free stream and a free window), and never
/// because work is waiting.
package protocol Transport: AnyObject {
    /// A delivery would leave at once.
    var isReady: Bool { get }
    /// How its connections stand; nothing where it has none.
    var figures: TransportFigures { get }
    /// The source may have work again after having had none. Called at most once per loop turn.
    func workAvailable()
    /// Stops pulling and closes; in-flight deliveries come back as completions before `closed` is called.
    func close(_ closed: @escaping () -> Void)
}

extension Transport {
    package var figures: TransportFigures { TransportFigures() }
}
