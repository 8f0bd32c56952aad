import FanfareFanOut
import FanfareModel

/// A network of a few connections: it takes a limited number of pushes at once, and answers each when the world decides.
final class WorldNetwork: Transport {
    struct Flight {
        let completion: (slot: ActivitySlot, generation: UInt32)
        let token: [UInt8]
        let event: Payload.Event
        let state: [UInt8]
        let alert: String?
        /// Lines of the alerts beside the first one.
        let body: String?
        let stamp: Int64
        let priority: Priority
        /// Unix seconds at which the card leaves the Lock Screen; `nil` unless the push is an end.
        let dismissalDate: Int64?

        /// Titles of the alerts that the push tells of.
        var alerts: [String] {
            guard let alert else { return [] }
            return [alert] + (body ?? "").split(separator: "\n").map(String.init)
        }
    }

    private unowned let source: any DeliverySource
    private let streams: Int
    private let clock: () -> Moment
    private var batch = DeliveryBatch()
    private var closed: (() -> Void)?
    private(set) var flights: [Flight] = []
    var isBlocked = false
    /// Called with each push when it leaves, and when its answer comes.
    var onPush: ((Flight) -> Void)?
    var onAnswer: ((Flight, DeliveryOutcome) -> Void)?
    /// Called with the time for which the network has waited for its part of the shard's turn.
    var onTurn: ((_ waited: Duration) -> Void)?
    private var waitsSince: MonotonicTime?

    init(_ source: any DeliverySource, streams: Int, _ clock: @escaping () -> Moment) {
        self.source = source
        self.streams = streams
        self.clock = clock
    }

    var isReady: Bool { true }

    func awaitsTurn(since now: MonotonicTime) { waitsSince = now }

    func turnIsOver() {
        guard let since = waitsSince.take() else { return }
        onTurn?(clock().monotonic - since)
    }

    func workAvailable() {
        turnIsOver()
        fill()
    }

    func fill() {
        while !isBlocked, closed == nil, flights.count < streams {
            source.pull(limit: streams - flights.count, at: clock(), into: &batch)
            if batch.deliveries.isEmpty { return }
            for delivery in batch.deliveries {
                let payload = batch.payload(of: delivery)
                let flight = Flight(
                    completion: (delivery.slot, delivery.generation), token: Array(batch.tokens[delivery.token]),
                    event: payload.event, state: payload.state, alert: payload.alert?.title.description,
                    body: payload.alert?.body.description, stamp: payload.stamp, priority: payload.priority,
                    dismissalDate: payload.dismissalDate)
                onPush?(flight)
                flights.append(flight)
            }
            batch.removeAll()
        }
    }

    func answer(_ index: Int, _ outcome: DeliveryOutcome) {
        let flight = flights.remove(at: index)
        onAnswer?(flight, outcome)
        let (slot, generation) = flight.completion
        source.complete([DeliveryCompletion(slot: slot, generation: generation, outcome: outcome)], at: clock())
        fill()
        if flights.isEmpty { closed.take()?() }
    }

    func close(_ closed: @escaping () -> Void) {
        if flights.isEmpty { closed() } else { self.closed = closed }
    }
}
