import FanfareFanOut
import FanfareModel

/// Exchange of a pool with its source: deliveries that are pulled, the requests made of them, and the completions that go back.
///
/// The source may call the pool back during a pull and while it takes completions.
final class DeliveryExchange {
    private unowned let source: any DeliverySource
    // Unchecked for the reason given in `Connection`.
    @safe @exclusivity(unchecked) private var requestFields: RequestFields
    @safe @exclusivity(unchecked) private(set) var batch = DeliveryBatch()
    @safe @exclusivity(unchecked) private var completions: [DeliveryCompletion] = []
    private var completionsSpare: [DeliveryCompletion] = []
    /// `false` after a pull that brought less than its limit, until the source announces work or completions may have made more due.
    @safe @exclusivity(unchecked) private(set) var mayHaveWork = true
    @safe @exclusivity(unchecked) private(set) var pullTurn = PullTurn()
    @safe @exclusivity(unchecked) private(set) var bodySize = BodySize()
    /// Requests in flight on all connections.
    @safe @exclusivity(unchecked) private(set) var inFlight = 0
    /// Counts of pushes; those of connections are zero.
    @safe @exclusivity(unchecked) private(set) var statistics = TransportStatistics()

    init(with source: any DeliverySource, endpoint: Endpoint, bundleID: String) {
        self.source = source
        requestFields = RequestFields(endpoint: endpoint, bundleID: bundleID)
    }

    /// Usual size of a push.
    var requestSize: ByteCount { bodySize.usual + RequestSize.besideBody }

    /// Requests that a connection may have in flight after its first answer: as many as TCP sends by then.
    var widthAtFirst: Int { max(2, PoolSize.requestsAtFirst(requestSize: requestSize)) }

    /// Upper bound on concurrent pushes (`DeliverySource.demand`).
    var demand: Int { source.demand }

    // MARK: The turn

    func beginTurn() { pullTurn.begin() }

    /// Returns `true` if one more pull may be made in this turn of the loop.
    func mayPull(in turn: UInt64, at now: MonotonicTime) -> Bool { pullTurn.mayPull(in: turn, at: now) }

    /// Ends the pulls of the turn, because they need a later reading of the clock.
    func cutShort() { pullTurn.cutShort() }

    /// Spreads the pulls until this time over all connections.
    func spread(until time: MonotonicTime) { pullTurn.spreadsUntil = time }

    func isSpreading(at now: MonotonicTime) -> Bool { now < pullTurn.spreadsUntil }

    // MARK: Pulls

    /// Notes that the source has announced work.
    func noteWork() { mayHaveWork = true }

    /// Asks the source whether a pull would bring anything.
    func mayHavePushes(at moment: Moment) -> Bool {
        guard source.mayHavePushes(at: moment) else {
            mayHaveWork = false
            return false
        }
        return true
    }

    /// Fills the batch in the source's order.
    func pull(limit: Int, at moment: Moment) {
        batch.removeAll()
        source.pull(limit: limit, at: moment, into: &batch)
        mayHaveWork = batch.deliveries.count == limit
    }

    /// Fills the batch by lot.
    ///
    /// - Parameter lot: draws the number by which the source chooses a delivery.
    func pullByLot(limit: Int, at moment: Moment, _ lot: () -> UInt64) {
        batch.removeAll()
        var before = -1
        while batch.deliveries.count < limit, batch.deliveries.count > before {
            before = batch.deliveries.count
            source.pullByLot(lot(), at: moment, into: &batch)
        }
        mayHaveWork = batch.deliveries.count == limit
    }

    // MARK: Requests

    func authorization(_ issue: ProviderToken.Issue) -> RequestFields.Authorization {
        requestFields.authorization(issue)
    }

    /// Returns the request of a delivery, and of those after it that carry the same payload; `nil` if that cannot be encoded.
    ///
    /// - Throws: the fault of the payload, once for each payload that is not joined.
    func form(
        of delivery: Delivery, _ authorization: RequestFields.Authorization
    ) throws(PayloadFault) -> RequestFields.Form? {
        guard let joined = batch.joinedPayload(of: delivery) else {
            let payload = batch.payload(of: delivery)
            if !payload.isEncoded { try encode(payload) }
            guard !payload.encodedBody.isEmpty else { return nil }
            return requestFields.form(of: payload, body: payload.encodedBody, authorization: authorization)
        }
        do throws(PayloadFault.Problem) {
            return try requestFields.form(of: joined, in: batch, authorization: authorization)
        } catch {
            throw PayloadFault(logLabel: batch.payload(of: delivery).logLabel, problem: error)
        }
    }

    /// Encodes a payload. Empty bytes mark a payload that cannot be encoded, so that its fault is thrown once.
    private func encode(_ payload: Payload) throws(PayloadFault) {
        payload.isEncoded = true
        do throws(PayloadFault) {
            try PayloadEncoder.encode(payload, into: &payload.encodedBody)
        } catch {
            payload.encodedBody.removeAll(keepingCapacity: true)
            throw error
        }
    }

    /// Notes requests that have been written to a connection.
    ///
    /// - Parameter size: size of the body of each.
    func noteSent(_ count: Int, each size: ByteCount, at now: MonotonicTime) {
        inFlight += count
        bodySize.note(size, of: count, at: now)
        statistics.sent += UInt64(count)
        statistics.sentSize += size * count
    }

    // MARK: Completions

    /// Completes deliveries of the batch whose payload cannot be encoded.
    func refuse(_ run: Range<Int>) {
        statistics.unencodable += UInt64(run.count)
        finishUnsent(run, .refused)
    }

    /// Completes deliveries of the batch that were not sent.
    func finishUnsent(_ run: Range<Int>, _ outcome: DeliveryOutcome) {
        for delivery in batch.deliveries[run] {
            completions.append(
                DeliveryCompletion(slot: delivery.slot, generation: delivery.generation, outcome: outcome))
        }
    }

    /// Completes a request that is in flight no more.
    func finish(_ request: SentRequest, _ outcome: DeliveryOutcome) {
        inFlight -= 1
        statistics.note(outcome)
        completions.append(DeliveryCompletion(slot: request.slot, generation: request.generation, outcome: outcome))
    }

    /// Counts an answer other than 200, and returns `true` if it is the first of its kind.
    func noteAnswer(status: Int, reason: String) -> Bool { statistics.count(status: status, reason: reason) }

    /// Hands all completions to the source.
    func complete(at moment: Moment) {
        guard !completions.isEmpty else { return }
        swap(&completions, &completionsSpare)
        source.complete(completionsSpare, at: moment)
        completionsSpare.removeAll(keepingCapacity: true)
        // An activity that is free again may be due at once.
        mayHaveWork = true
    }

    /// Describes requests in flight that the counts of pushes contradict, or completions that have been handed over and kept; `nil` if there are
    /// none. For tests.
    func violation() -> String? {
        let (sent, answered) = (statistics.sent, statistics.answered)
        guard answered <= sent, sent - answered == UInt64(inFlight) else {
            return "\(inFlight) requests in flight, \(sent) sent and \(answered) answered"
        }
        return completionsSpare.isEmpty ? nil : "\(completionsSpare.count) completions handed over and kept"
    }
}
