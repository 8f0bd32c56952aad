import FanfareModel

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
