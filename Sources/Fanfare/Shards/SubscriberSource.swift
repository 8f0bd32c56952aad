package import FanfareDecisions
import FanfareFanOut
import FanfareLog
public import FanfareModel

/// Source of the activities that are on phones when an engine starts: a `SubscriberSequence`, or a program's own type that reads the program's
/// database piece by piece.
public protocol SubscriberSource: Sendable {
    /// Approximate number of activities, for reserving memory; 0 if unknown.
    var expectedCount: Int { get }

    /// Passes all activities to `take`, once. The engine's core thread calls it while `Engine.launch` waits, so it must not wait for the thread or
    /// the task that calls `launch`. An engine with a store calls it on another thread, once the store's cards are loaded, and serves during the
    /// call; the engine skips activities that the store has, and reports an error to operators. The shards load at the same time, on their own
    /// threads, and no other part keeps the subscriptions.
    ///
    /// - Parameter take: returns the fault of a subscription, or `nil`. The engine leaves out faulty subscriptions, and reports their number to
    ///   operators.
    /// - Throws: any error of the source. An engine without a store is then not created, and its `EngineFault` has the error.
    func read(_ take: (Subscription) -> String?) throws
}

/// Source that takes its subscriptions from a sequence.
public struct SubscriberSequence<Base: Sequence & Sendable>: SubscriberSource where Base.Element == Subscription {
    /// Approximate number of subscriptions, as given to `init`.
    public let expectedCount: Int
    private let base: Base

    /// Creates a source.
    ///
    /// - Parameters:
    ///   - base: iterated once, on a thread of the engine (`SubscriberSource.read`); a lazy sequence need not be in memory as a whole.
    ///   - expectedCount: approximate number of elements; 0 if unknown. The engine reserves memory for this number, at most for twenty million. A
    ///     wrong number only costs memory or time.
    public init(_ base: Base, expectedCount: Int) {
        self.base = base
        self.expectedCount = expectedCount
    }

    /// Passes all elements of the sequence to `take`, including faulty ones.
    ///
    /// - Complexity: O(n), n being the elements, apart from what the sequence does.
    public func read(_ take: (Subscription) -> String?) { for subscription in base { _ = take(subscription) } }
}

extension SubscriberSource {
    /// Reads all subscriptions and passes each to its shard's queue.
    ///
    /// - Parameters:
    ///   - queues: queues of the shards, by app.
    ///   - apps: apps that the engine pushes to; empty if nothing is sent to APNs, and then any app is accepted.
    /// - Returns: faults to report to operators.
    func distribute(
        to queues: [[LoadingQueue]], apps: [AppID], limits: Rules.Limits, now: FeedTime
    ) throws -> LoadingFaults {
        let distribution = LoadingDistribution(to: queues, apps: apps, limits: limits, now: now)
        try read { distribution.put($0) }
        distribution.flush()
        return distribution.faults
    }
}

/// Passes subscriptions to the queues of their shards, in batches.
package final class LoadingDistribution {
    private let queues: [[LoadingQueue]]
    private let apps: [AppID]
    private let limits: Rules.Limits
    private let now: FeedTime
    private let batchMax: Int
    private var batches: [[[ShardCommand]]]
    private(set) var faults = LoadingFaults()
    private var hasEnded = false
    private var asked: UInt8 = 0

    /// - Parameters:
    ///   - queues: queues of the shards, by app.
    ///   - apps: apps that the engine pushes to; empty if nothing is sent to APNs, and then any app is accepted.
    ///   - batchMax: commands in a batch; another number is for simulations.
    package init(
        to queues: [[LoadingQueue]], apps: [AppID], limits: Rules.Limits, now: FeedTime,
        batchMax: Int = LoadingQueue.batchMax
    ) {
        (self.queues, self.apps, self.limits, self.now, self.batchMax) = (queues, apps, limits, now, batchMax)
        batches = queues.map { $0.map { _ in [] } }
    }

    /// Returns `true` if the shards take no more. It is called for each card, and asks the queues with each 256th: a reader may pass over millions of
    /// cards without a batch.
    func checkClosed() -> Bool {
        asked &+= 1
        if asked == 0, !hasEnded { hasEnded = queues.contains { $0.contains(where: \.isClosed) } }
        return hasEnded
    }

    /// Passes a subscription on.
    ///
    /// - Parameter earlier: its deliveries by the process before this one, if a store has it: a function of its beginning and its app.
    /// - Returns: its fault, if it is left out.
    @discardableResult
    func put(
        _ subscription: Subscription, having earlier: ((FeedTime?, AppID?) -> EarlierDelivery)? = nil
    ) -> String? {
        let fault = load(subscription, having: earlier)
        if let fault { faults.note(fault) }
        return fault
    }

    private func load(
        _ subscription: Subscription, having earlier: ((FeedTime?, AppID?) -> EarlierDelivery)?
    ) -> String? {
        var app = 0
        if let id = subscription.app, !apps.isEmpty {
            guard let known = apps.firstIndex(of: id) else { return "\(id): no app that is pushed to" }
            app = known
        }
        var startedAt = subscription.startedAt
        if let date = startedAt, !StartDate.isPossible(date, now: now) {
            faults.noteStart(date)
            startedAt = nil
        }
        let delivery = earlier.map { $0(startedAt, apps.isEmpty ? nil : apps[app]) }
        let command = ShardCommand.follow(
            subscription.activity, subscription.audience, token: subscription.token,
            preferences: subscription.preferences, startedAt: startedAt, earlier: delivery)
        if let fault = command.fault(topicIDSizeMax: limits.topicIDSizeMax) { return fault.description }
        let shard = ShardPlace.index(ofSubscriber: subscription.subscriber, of: queues[app].count)
        batches[app][shard].append(command)
        if delivery?.isLeaving == true { batches[app][shard].append(.unfollow(subscription.activity)) }
        if batches[app][shard].count >= batchMax { flush(app, shard) }
        return nil
    }

    private func flush(_ app: Int, _ shard: Int) {
        guard !batches[app][shard].isEmpty else { return }
        let isFull = batches[app][shard].count >= batchMax
        // The shard's thread has the batch from now on, so the next one gets memory of its own.
        if !queues[app][shard].put(&batches[app][shard]) { hasEnded = true }
        batches[app][shard] = []
        if isFull { batches[app][shard].reserveCapacity(batchMax) }
    }

    /// Passes on the batches that are not full.
    func flush() { for app in queues.indices { for shard in queues[app].indices { flush(app, shard) } } }
}

/// Faults of subscriptions that were to be loaded, in a bounded number of lines.
struct LoadingFaults {
    private var leftOut: [(fault: String, count: Int)] = []
    /// Subscriptions with faults beyond those that are kept apart; some faults contain a number.
    private var others = 0
    private var undated: (count: Int, first: FeedTime)?

    private static let faultsMax = 8

    /// Counts a subscription that is left out.
    mutating func note(_ fault: String) {
        if let index = leftOut.firstIndex(where: { $0.fault == fault }) {
            leftOut[index].count += 1
        } else if leftOut.count < LoadingFaults.faultsMax {
            leftOut.append((fault, 1))
        } else {
            others += 1
        }
    }

    /// Counts a subscription with an impossible start time, which counts as started just now.
    mutating func noteStart(_ startedAt: FeedTime) {
        undated = ((undated?.count ?? 0) + 1, undated?.first ?? startedAt)
    }

    var lines: [String] {
        func subscribers(_ count: Int) -> String { count == 1 ? "1 subscriber" : "\(count) subscribers" }
        var lines = leftOut.map { "left out \(subscribers($0.count)): \($0.fault)" }
        if others > 0 { lines.append("left out \(subscribers(others)) more, for other reasons") }
        if let undated {
            lines.append(
                "started just now, as far as is known: \(subscribers(undated.count)); \(StartDate.impossible): startedAt "
                    + "\(undated.first)" + (undated.count > 1 ? " and others" : ""))
        }
        return lines
    }
}
