import FanfareDecisions
import FanfareFanOut
public import FanfareFeeds
public import FanfareModel

/// Where the activities come from that are on phones when an engine starts: a `SubscriberSequence`, or a type of the program's own that
/// reads its store piece by piece.
public protocol SubscriberSource: Sendable {
    /// About how many there are, to make room; 0 where nobody knows.
    var expectedCount: Int { get }

    /// Hands out all of them. Called once, on the engine's core thread, while `Engine.init` waits for it: it must not wait for the thread
    /// that calls that. Shards take theirs at the same time, on threads of their own. Nothing is kept but what the shards keep.
    ///
    /// - Parameter take: says what is wrong with a subscription, if anything; it is then left out, and operators are told how many were.
    func read(_ take: (Subscription) -> String?) throws
}

extension SubscriberFile: SubscriberSource {}

/// Subscriptions made one by one by a sequence.
public struct SubscriberSequence<Base: Sequence & Sendable>: SubscriberSource where Base.Element == Subscription {
    /// As it was given to `init`.
    public let expectedCount: Int
    private let base: Base

    /// - Parameters:
    ///   - base: iterated once, on the engine's core thread (`SubscriberSource.read`); a lazy one need never be whole in memory.
    ///   - expectedCount: about how many it has; 0 where nobody knows. The engine makes room for so many, at most for twenty
    ///     million; a wrong number costs memory or time and nothing else.
    public init(_ base: Base, expectedCount: Int) {
        self.base = base
        self.expectedCount = expectedCount
    }

    /// Hands out the sequence's elements, whatever is wrong with some of them.
    public func read(_ take: (Subscription) -> String?) { for subscription in base { _ = take(subscription) } }
}

extension SubscriberSource {
    /// Reads all of them, and hands each to the shard that it belongs to.
    ///
    /// - Parameters:
    ///   - queues: of the shards, by app.
    ///   - apps: those that are pushed to; empty where nothing is sent, which is all the same to everybody.
    /// - Returns: what operators should know of them.
    func distribute(
        to queues: [[LoadingQueue]], apps: [AppID], limits: Rules.Limits = Rules.Limits(), now: FeedTime
    ) throws -> LoadingFaults {
        var batches = queues.map { $0.map { _ in [ShardCommand]() } }
        var faults = LoadingFaults()
        /// - Returns: what is wrong with it.
        func load(_ subscription: Subscription) -> String? {
            var app = 0
            if let id = subscription.app, !apps.isEmpty {
                guard let known = apps.firstIndex(of: id) else { return "\(id): no app that is pushed to" }
                app = known
            }
            var age = Duration.zero
            if let startedAt = subscription.startedAt {
                if let known = Engine.age(of: startedAt, now: now) { age = known } else { faults.noteStart(startedAt) }
            }
            let shard = ShardPlace.index(ofSubscriber: subscription.subscriber, of: queues[app].count)
            let command = ShardCommand.follow(
                subscription.activity, subscription.audience, token: subscription.token,
                preferences: subscription.preferences, age: age)
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

/// What was wrong with subscriptions that were to be loaded: some lines, however many there were.
struct LoadingFaults {
    private var leftOut: [(fault: String, count: Int)] = []
    /// Beyond the faults told apart, some of which have a number in them.
    private var others = 0
    private var undated: (count: Int, first: FeedTime)?

    private static let faultsMax = 8

    /// One is left out.
    mutating func note(_ fault: String) {
        if let index = leftOut.firstIndex(where: { $0.fault == fault }) {
            leftOut[index].count += 1
        } else if leftOut.count < LoadingFaults.faultsMax {
            leftOut.append((fault, 1))
        } else {
            others += 1
        }
    }

    /// One cannot have been started then, and counts as started just now.
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
