public import FanfareModel

/// The content of pushes: one content state, stamped, with or without an alert. It is made once and shared by all deliveries of the
/// same variant, so expensive work on it is done once per update and not once per phone.
///
/// A lineup with one member has a payload for one push only. A batch therefore overwrites a payload that has no other reference,
/// and reuses the memory of its bytes. A payload that is still referenced stays unchanged, and so do copies of its bytes.
///
/// Confined to its shard's thread.
@usableFromInline package final class Payload {
    @usableFromInline package enum Event: Sendable { case start, update, end }

    /// The additional part of a start: the type and attributes of the new activity, and the source of its updates.
    @usableFromInline package struct Start: Sendable, Hashable {
        /// The source of a new activity's updates; iOS 18 and newer.
        package enum Updates: Sendable, Hashable {
            /// The phone gives the app an update token, which the app reports to us.
            case token
            /// The phone subscribes the activity to this channel (its id, base64). Older phones then start nothing.
            case channel(String)
        }

        /// Name of the app's attributes struct, as it is spelt there.
        package var attributesType: String
        /// The attributes, a JSON object.
        package var attributes: [UInt8]
        /// The requested source of updates. With `nil` none is requested; the app may still report a token of its own accord.
        package var updates: Updates?
        /// Identifier by which starts that wait for a phone collapse into one card. At most 64 bytes.
        package var collapseID: String?

        package init(attributesType: String, attributes: [UInt8], updates: Updates?, collapseID: String?) {
            self.attributesType = attributesType
            self.attributes = attributes
            self.updates = updates
            self.collapseID = collapseID
        }
    }

    /// All properties but the bytes.
    @usableFromInline struct Head {
        @usableFromInline let event: Event
        @usableFromInline let logLabel: String
        @usableFromInline let stamp: Int64
        @usableFromInline let staleDate: Int64?
        @usableFromInline let dismissalDate: Int64?
        @usableFromInline let alert: AlertText?
        @usableFromInline let priority: Priority
        @usableFromInline let relevanceScore: Double?
        @usableFromInline let start: Start?
        @usableFromInline var serial: UInt64 = 0
    }

    // Unchecked for the reason given in `Shard`. Other modules would check nevertheless, so they access these by inlined code.
    @usableFromInline @safe @exclusivity(unchecked) private(set) var head: Head
    @usableFromInline @safe @exclusivity(unchecked) var stateBytes: [UInt8]

    @inlinable package var event: Event { head.event }
    /// The topic, or a lineup's spotlight topic; only for messages to people.
    @inlinable package var logLabel: String { head.logLabel }
    /// The content state, canonical JSON. It is empty on an end that leaves the card as it is; the key is then omitted.
    @inlinable package var state: [UInt8] { stateBytes }
    /// `aps.timestamp`, Unix seconds.
    @inlinable package var stamp: Int64 { head.stamp }
    /// `aps.stale-date`, Unix seconds.
    @inlinable package var staleDate: Int64? { head.staleDate }
    /// `aps.dismissal-date`, Unix seconds; ends only.
    @inlinable package var dismissalDate: Int64? { head.dismissalDate }
    @inlinable package var alert: AlertText? { head.alert }
    @inlinable package var priority: Priority { head.priority }
    /// Rank among this app's activities on a phone: the highest has the Dynamic Island.
    @inlinable package var relevanceScore: Double? { head.relevanceScore }
    /// The additional part of a start; `nil` for other events.
    @inlinable package var start: Start? { head.start }
    /// Serial of the publication that made the version, or of the one in a lineup's spotlight; 0 if there is none. For measurements.
    @inlinable package var serial: UInt64 { head.serial }
    /// The request body, encoded by the transport on first use.
    package var encodedBody: [UInt8] = []
    package var isEncoded = false

    package convenience init(
        event: Event, logLabel: String, state: [UInt8], stamp: Int64, staleDate: Int64?, dismissalDate: Int64?,
        alert: AlertText?, priority: Priority, relevanceScore: Double? = nil, start: Start? = nil, serial: UInt64 = 0
    ) {
        self.init(
            Head(
                event: event, logLabel: logLabel, stamp: stamp, staleDate: staleDate, dismissalDate: dismissalDate,
                alert: alert, priority: priority, relevanceScore: relevanceScore, start: start, serial: serial), state)
    }

    fileprivate init(_ head: Head, _ state: [UInt8] = []) {
        self.head = head
        stateBytes = state
    }

    /// Replaces everything but the state, which is written separately.
    fileprivate func rewrite(_ head: Head) {
        self.head = head
        isEncoded = false
    }
}

/// One push that a transport is to make. It consists of plain numbers, so a batch of them costs no reference counting.
@usableFromInline package struct Delivery: Sendable {
    package let slot: ActivitySlot
    /// Generation of the slot; a completion of an older generation is ignored.
    package let generation: UInt32
    /// Index into the batch's payloads; the complement of one into its joined payloads.
    let payload: Int32
    /// Offset of this activity's token in the batch's `tokens`.
    let tokenStart: Int32
    let tokenCount: Int32

    @usableFromInline package var token: Range<Int> { Int(tokenStart)..<Int(tokenStart + tokenCount) }
}

/// Deliveries pulled together. A batch is reused from pull to pull, so that a push allocates nothing.
@usableFromInline package struct DeliveryBatch {
    package internal(set) var deliveries: [Delivery] = []
    /// Payloads in the order of the deliveries that carry them; one payload may occur several times.
    private var payloads: [Payload] = []
    private var joined = JoinedPayloads()
    /// Payloads of earlier batches, to be overwritten.
    private var spare: [Payload] = []
    /// Maximum of `spare`: the payloads of one pull. More would come only from a source that makes its payloads itself and reuses none.
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

    /// - Parameter payload: the result of `index(of:)`.
    mutating func append(
        slot: ActivitySlot, generation: UInt32, payload: Int32, token: TokenReference, of store: TokenStore
    ) {
        deliveries.append(
            Delivery(
                slot: slot, generation: generation, payload: payload, tokenStart: Int32(tokens.count),
                tokenCount: Int32(token.count)))
        store.copy(token, to: &tokens)
    }

    /// Returns the payload's index in the batch, for the deliveries that are appended next.
    mutating func index(of payload: Payload) -> Int32 {
        if payloads.last !== payload { payloads.append(payload) }
        return Int32(payloads.count - 1)
    }

    /// Returns the payload's index in the batch, for the delivery that is appended next.
    mutating func index(of payload: JoinedPayload, _ shown: LineupJSON.Shown, _ alert: AlertWords?) -> Int32 {
        unsafe ~Int32(joined.append(payload, shown, alert))
    }

    /// Returns the payload of a delivery, made for the call if the delivery has a joined one.
    ///
    /// - Parameter delivery: one of this batch.
    @usableFromInline package func payload(of delivery: Delivery) -> Payload {
        guard let payload = joinedPayload(of: delivery) else { return payloads[Int(delivery.payload)] }
        var state: [UInt8] = []
        appendState(of: payload, to: &state)
        return unsafe Payload(
            event: .update,
            logLabel: joined.withShown(payload) { unsafe $0.spotlightTopic.publication.topicID.rawValue }, state: state,
            stamp: payload.stamp, staleDate: payload.staleDate, dismissalDate: nil,
            alert: joined.alert(of: payload)?.text, priority: payload.priority,
            relevanceScore: payload.relevanceScore, serial: payload.serial)
    }

    /// Returns the payload of a delivery that is to be joined; `nil` if it is a `Payload`.
    ///
    /// - Parameter delivery: one of this batch.
    package func joinedPayload(of delivery: Delivery) -> JoinedPayload? {
        delivery.payload < 0 ? joined[Int(~delivery.payload)] : nil
    }

    /// Appends the content state of a joined payload of this batch.
    package func appendState(of payload: JoinedPayload, to bytes: inout [UInt8]) {
        unsafe joined.withShown(payload) { unsafe $0.append(capacity: payload.stateSizeMax.bytes, to: &bytes) }
    }

    /// Returns the alert of a joined payload of this batch.
    package func alert(of payload: JoinedPayload) -> AlertWords? { joined.alert(of: payload) }

    /// Returns the deliveries from `start` on that carry one payload, so that values derived from it are looked up once.
    @usableFromInline package func run(from start: Int) -> Range<Int> {
        let payload = deliveries[start].payload
        var end = start + 1
        while end < deliveries.count, deliveries[end].payload == payload { end += 1 }
        return start..<end
    }

    /// Returns a payload to be appended, whose old state is still to be overwritten.
    mutating func payload(_ head: Payload.Head) -> Payload {
        guard let payload = spare.popLast() else { return Payload(head) }
        payload.rewrite(head)
        return payload
    }

    package mutating func removeAll() {
        deliveries.removeAll(keepingCapacity: true)
        tokens.removeAll(keepingCapacity: true)
        joined.removeAll()
        while var payload = payloads.popLast() {
            // A payload with another reference is kept: its audience shares it among several members, or a test holds it.
            if spare.count < DeliveryBatch.spareMax, isKnownUniquelyReferenced(&payload) { spare.append(payload) }
        }
    }
}

/// The outcome of one push.
@usableFromInline package enum DeliveryOutcome: Sendable, Equatable {
    /// APNs has accepted the push, which says nothing about the phone.
    case accepted
    /// The token will never work again (410, `BadDeviceToken`, `DeviceTokenNotForTopic`).
    case deadToken
    /// Too many pushes went to this token (429): the activity backs off, then gets the newest state.
    case throttled
    /// The push was not processed, because of itself or its token (a 5xx answer, or a reset for another reason than a refused stream):
    /// the activity backs off, then gets the newest state with its alert.
    case serviceError
    /// The push was certainly not processed, for a reason other than its token (refused stream, above a GOAWAY's last stream, a
    /// configuration fault): it may be sent again at once, with its alert.
    case notProcessed
    /// APNs refused the push for a reason that sending it again does not fix: a bug of ours.
    case refused
    /// The push was sent, and no answer will come (connection lost, timeout): it may or may not have arrived.
    case unknown

    /// Is `true` when the push certainly reached no device.
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

/// The source of a transport's work. `Shard` implements it; all calls are made on the shard's thread.
package protocol DeliverySource: AnyObject {
    /// Appends at most `limit` deliveries to the batch; fewer or none if no more are due now. Each delivery must be completed
    /// exactly once.
    func pull(limit: Int, at moment: Moment, into batch: inout DeliveryBatch)
    /// Appends one delivery to the batch, or none if none is due: one that chance chooses, whatever its urgency. For pushes that are to show
    /// whether the service works: neighbours may fail for a common cause of their own, and in the order of `pull` they would make up all tries.
    func pullByLot(_ random: UInt64, at moment: Moment, into batch: inout DeliveryBatch)
    /// Returns `false` if a pull would bring nothing now.
    func mayHavePushes(at moment: Moment) -> Bool
    func complete(_ completions: [Completion], at moment: Moment)
    /// Upper bound on concurrent pushes: those due now, or due with the next change for the largest audience. Read often.
    var demand: Int { get }
}

extension DeliverySource {
    // The defaults are for a source that does not know.

    package var demand: Int { 0 }
    package func mayHavePushes(at moment: Moment) -> Bool { true }
}

/// Delivers pushes to phones, or simulates it. A transport is confined to its shard's thread and is not `Sendable`.
///
/// The absence of pulls is the backpressure: a transport pulls when it has room (a free stream and a free window), never because
/// work is waiting.
package protocol Transport: AnyObject {
    /// Is `true` when a delivery would leave at once.
    var isReady: Bool { get }
    /// State of the transport's connections; all zero for a transport without connections.
    var figures: TransportFigures { get }
    /// Notifies the transport that the source may have work again after having had none. Called at most once per loop turn.
    func workAvailable()
    /// Stops pulling and closes. Deliveries in flight are completed before `closed` is called.
    func close(_ closed: @escaping () -> Void)
}

extension Transport {
    package var figures: TransportFigures { TransportFigures() }
}
