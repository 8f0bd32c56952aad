package import FanfareModel

/// Claims of a shard, as a store keeps them until their alerts are not fresh any more.
package struct StoredClaims: Sendable, Equatable {
    package let claims: [AlertClaim]
    /// App of the activities; `nil` if nothing is sent to APNs.
    package let app: AppID?
    /// Log time at which they were made.
    package let now: FeedTime

    package init(_ claims: [AlertClaim], app: AppID?, now: FeedTime) {
        self.claims = claims
        self.app = app
        self.now = now
    }

    /// Log time from which on no alert of the claims is fresh.
    var expires: FeedTime { claims.map(\.expires).max() ?? now }
}

/// Store of claims, of completions and of a mark of stamps beside them. Its calls block; they are for a thread of its own (`ClaimQueue`), or for the time before
/// anything runs. Confined to one thread at a time.
package protocol ClaimStore: AnyObject, Sendable {
    /// Log time since when all alerts have left with claims; `nil` for a new store.
    var start: FeedTime? { get }

    /// Notes that from that log time on all alerts leave with claims.
    func begin(at start: FeedTime) throws(LogError)

    /// The greatest stamp (`aps.timestamp`) that a push may have had; `nil` if none was reserved.
    var stampMark: Int64? { get }

    /// Appends claims, changes completions and sets the mark of stamps, if there is one, and returns when all of it is durable. After an error the same call
    /// may be repeated. Claims that have expired are removed.
    func append(_ claims: [StoredClaims], _ changes: CompletionChanges, stampMark: Int64?) throws(LogError)

    /// Calls the closure with all claims, in order.
    func read(_ body: (StoredClaims) -> Void) throws(LogError)

    /// Calls the closure with all completions.
    ///
    /// - Returns: the point of the log up to which they are known; `nil` if they are void.
    func readCompletions(_ body: (CompletionKey, StoredCompletion) -> Void) throws(LogError) -> CompletionHead?

    /// Releases what others may want, such as a folder.
    func close()
}

extension ClaimStore {
    package func append(
        _ claims: [StoredClaims], _ changes: CompletionChanges = CompletionChanges()
    ) throws(LogError) { try append(claims, changes, stampMark: nil) }

    /// Makes the mark durable with which a process begins.
    ///
    /// - Parameter now: wall clock time.
    /// - Returns: bounds on the stamps of the process.
    package func reserveStamps(at now: FeedTime) throws(LogError) -> StampBounds {
        let bounds = StampBounds(after: stampMark, at: now)
        try append([], CompletionChanges(), stampMark: bounds.mark)
        return bounds
    }

    package func close() {}
}

/// Claims in memory, as durable as the process.
///
/// `Sendable` is unchecked because `ClaimStore` confines it to one thread at a time.
package final class MemoryClaims: ClaimStore, @unchecked Sendable {
    package private(set) var start: FeedTime?
    package private(set) var claims: [StoredClaims] = []

    package init() {}

    package func begin(at start: FeedTime) { self.start = start }

    package private(set) var completions: [CompletionKey: StoredCompletion] = [:]
    private var head: CompletionHead?
    package private(set) var stampMark: Int64?

    package func readCompletions(_ body: (CompletionKey, StoredCompletion) -> Void) -> CompletionHead? {
        for (key, completion) in completions { body(key, completion) }
        return head
    }

    package func append(_ new: [StoredClaims], _ changes: CompletionChanges, stampMark mark: Int64? = nil) {
        stampMark = mark ?? stampMark
        if changes.isVoid { (completions, head) = ([:], nil) }
        for (key, completion) in changes.sorted { completions[key] = completion }
        head = changes.head ?? head
        claims += new
        if let now = new.last?.now { claims.removeFirst(claims.prefix { $0.expires < now }.count) }
    }

    package func read(_ body: (StoredClaims) -> Void) { for claims in claims { body(claims) } }
}

/// Activities that claims name, for a restart.
package struct ClaimedActivities: Sendable {
    private struct Key: Hashable {
        let app: AppID?
        let topic: TopicID
    }

    private struct Claims {
        /// Log time through which alerts may have left for an activity.
        var through: [ActivityMark: FeedTime] = [:]
        /// The same for all that follow the topic.
        var all: FeedTime?

        mutating func insert(_ claim: AlertClaim) {
            if claim.activities.isEmpty { all = max(all ?? claim.through, claim.through) }
            for mark in claim.activities { through[mark] = max(through[mark] ?? claim.through, claim.through) }
        }
    }

    private var claims: [Key: Claims] = [:]
    private let now: FeedTime

    /// - Parameter now: log time; claims that have expired by then say nothing more.
    package init(now: FeedTime) { self.now = now }

    package mutating func insert(_ stored: StoredClaims) {
        for claim in stored.claims where claim.expires >= now {
            let key = Key(app: stored.app, topic: claim.topic)
            claims[key, default: Claims()].insert(claim)
        }
    }

    /// Log time through which alerts of the topic may have left for the activity; `nil` if there are none.
    ///
    /// - Parameter app: app of the activity; `nil` if nothing is sent to APNs.
    package func claimed(_ mark: ActivityMark, of topic: TopicID, app: AppID?) -> FeedTime? {
        guard let claims = claims[Key(app: app, topic: topic)] else { return nil }
        return [claims.all, claims.through[mark]].compactMap(\.self).max()
    }

    /// Number of names.
    package var count: Int { claims.values.reduce(0) { $0 + $1.through.count } }
}
