package import FanfareFanOut
package import FanfareModel

/// Answers every push at once, while it takes any.
package final class WillingTransport: Transport {
    package struct Push {
        package let event: Payload.Event
        package let state: String
        package let alert: AlertText?
        package let stamp: FeedTime
        package let staleDate: FeedTime?
        package let dismissalDate: FeedTime?

        fileprivate init(_ payload: Payload) {
            event = payload.event
            state = String(decoding: payload.state, as: UTF8.self)
            alert = payload.alert
            stamp = FeedTime(seconds: payload.stamp)
            staleDate = payload.staleDate.map { FeedTime(seconds: $0) }
            dismissalDate = payload.dismissalDate.map { FeedTime(seconds: $0) }
        }
    }

    private let source: any DeliverySource
    private let clock: () -> Moment
    private var batch = DeliveryBatch()
    package private(set) var accepted: [Push] = []
    /// Number of times that the transport was told of work.
    package private(set) var turns = 0
    /// Called first then.
    package var onWork: (() -> Void)?
    package var isBlocked = false
    /// Answer to a push for a token.
    package var answer: ([UInt8]) -> DeliveryOutcome = { _ in .accepted }

    package init(_ source: any DeliverySource, _ clock: @escaping () -> Moment) {
        self.source = source
        self.clock = clock
    }

    package var isReady: Bool { true }

    package func workAvailable() {
        turns += 1
        onWork?()
        while !isBlocked {
            let moment = clock()
            source.pull(limit: 64, at: moment, into: &batch)
            if batch.deliveries.isEmpty { return }
            let completions = batch.deliveries.map { delivery in
                let outcome = answer(Array(batch.tokens[delivery.token]))
                if outcome == .accepted { accepted.append(Push(batch.payload(of: delivery))) }
                return DeliveryCompletion(slot: delivery.slot, generation: delivery.generation, outcome: outcome)
            }
            batch.removeAll()
            source.complete(completions, at: moment)
        }
    }

    package func close(_ closed: @escaping () -> Void) { closed() }
}
