import FanfareDecisions
import FanfareFanOut
public import FanfareFeeds
import FanfareLog
public import FanfareModel

/// Source of the activities that are on phones when an engine starts: a `SubscriberSequence`, or a program's own type that reads its store
/// piece by piece.
public protocol SubscriberSource: Sendable {
    /// Approximate number of activities, for reserving memory; 0 if unknown.
    var expectedCount: Int { get }

    /// Passes all activities to `take`. The engine's core thread calls it once while `Engine.init` waits, so it must not wait for the thread
    /// that calls `init`. The shards load at the same time, on threads of their own, and nothing is kept outside them.
    ///
    /// - Parameter take: returns the fault of a subscription, or `nil`. A faulty subscription is left out, and the number of these is
    ///   reported to operators.
    func read(_ take: (Subscription) -> String?) throws
}

extension SubscriberFile: SubscriberSource {}

/// Source that takes its subscriptions from a sequence.
public struct SubscriberSequence<Base: Sequence & Sendable>: SubscriberSource where Base.Element == Subscription {
    /// Approximate number of subscriptions, as given to `init`.
    public let expectedCount: Int
    private let base: Base

    /// Creates a source.
    ///
    /// - Parameters:
    ///   - base: iterated once, on the engine's core thread (`SubscriberSource.read`); a lazy sequence need never be in memory as a whole.
    ///   - expectedCount: approximate number of elements; 0 if unknown. The engine reserves memory for as many, at most for twenty million. A
    ///     wrong number only costs memory or time.
    public init(_ base: Base, expectedCount: Int) {
        self.base = base
        self.expectedCount = expectedCount
    }

    /// Passes all elements of the sequence to `take`, including faulty ones.
    public func read(_ take: (Subscription) -> String?) { for subscription in base { _ = take(subscription) } }
}

extension SubscriberSource {
    /// Reads all subscriptions and passes each to its shard's queue.
    ///
    /// - Parameters:
    ///   - queues: queues of the shards, by app.
    ///   - apps: apps that the engine pushes to; empty if nothing is sent to APNs, and then any app is accepted.
    ///   - earlier: what is known of the process before this one.
    /// - Returns: faults to report to operators.
    func distribute(
        to queues: [[LoadingQueue]], apps: [AppID], limits: Rules.Limits = Rules.Limits(), now: FeedTime,
        earlier: EarlierProcess? = nil
    ) throws -> LoadingFaults {
        var batches = queues.map { $0.map { _ in [ShardCommand]() } }
        var faults = LoadingFaults()
        /// - Returns: the subscription's fault; `nil` if it has none.
        func load(_ subscription: Subscription) -> String? {
            var app = 0
            if let id = subscription.app, !apps.isEmpty {
                guard let known = apps.firstIndex(of: id) else { return "\(id): no app that is pushed to" }
                app = known
            }
            var startedAt = subscription.startedAt
            if let date = startedAt, !Engine.isStart(date, now: now) {
                faults.noteStart(date)
                startedAt = nil
            }
            let shard = ShardPlace.index(ofSubscriber: subscription.subscriber, of: queues[app].count)
            let command = ShardCommand.follow(
                subscription.activity, subscription.audience, token: subscription.token,
                preferences: subscription.preferences, startedAt: startedAt,
                earlier: earlier?.delivery(subscription, startedAt: startedAt, app: apps.isEmpty ? nil : apps[app])
                    ?? EarlierDelivery())
            if let fault = command.fault(topicIDBytesMax: limits.topicIDBytesMax) { return fault.description }
            batches[app][shard].append(command)
            if batches[app][shard].count == LoadingQueue.batchMax {
                queues[app][shard].put(batches[app][shard])
                batches[app][shard].removeAll(keepingCapacity: true)
            }
            return nil
        }
        try read { subscription in
            let fault = load(subscription)
            if let fault { faults.note(fault) }
            return fault
        }
        for app in queues.indices {
            for shard in queues[app].indices where !batches[app][shard].isEmpty {
                queues[app][shard].put(batches[app][shard])
            }
        }
        return faults
    }
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
                "started just now, as far as is known: \(subscribers(undated.count)); \(Engine.noSuchStart): startedAt "
                    + "\(undated.first)" + (undated.count > 1 ? " and others" : ""))
        }
        return lines
    }
}
