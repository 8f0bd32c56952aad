package import FanfareModel

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
    func complete(_ completions: [DeliveryCompletion], at moment: Moment)
    /// Upper bound on concurrent pushes: those due now, or due with the next change for the largest audience. Read often.
    var demand: Int { get }
}

extension DeliverySource {
    // The defaults are for a source that does not count its pending pushes.

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
