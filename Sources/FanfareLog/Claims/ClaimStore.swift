package import FanfareModel

/// Claims of a shard, as a store keeps them until their alerts are not fresh any more, and until no card can wait for the answer to its start.
package struct StoredClaims: Sendable, Equatable {
    package let claims: [AlertClaim]
    /// Starts that may leave from now on.
    package let starts: [StartMark]
    /// App of the activities; `nil` if nothing is sent to APNs.
    package let app: AppID?
    /// Log time of the claims, that of the last entry; of starts in a store, their `StartClaimTime`.
    package let now: FeedTime

    package init(_ claims: [AlertClaim], starts: [StartMark] = [], app: AppID?, now: FeedTime) {
        self.claims = claims
        self.starts = starts
        self.app = app
        self.now = now
    }

    /// Returns the claims as made at that time.
    func made(at now: FeedTime) -> StoredClaims { StoredClaims(claims, starts: starts, app: app, now: now) }

    /// The claims of alerts alone; `nil` without any.
    var ofAlerts: StoredClaims? { claims.isEmpty ? nil : StoredClaims(claims, app: app, now: now) }

    /// The claims of starts alone; `nil` without any.
    var ofStarts: StoredClaims? { starts.isEmpty ? nil : StoredClaims([], starts: starts, app: app, now: now) }

    /// Log time from which on no alert of the claims is fresh.
    var expires: FeedTime { claims.map(\.expires).max() ?? now }

    /// Time after which a start has been answered or given up: it leaves within twelve hours of its claim (`PendingStart.claimAgeMax`), a card
    /// without a token is over eight hours later, and log time passes at most a sixteenth faster than the clock.
    static let startAgeMax = Duration.seconds(24 * 3600)

    /// Time of the claims of starts at which these starts expire.
    var startsExpire: FeedTime { now + StoredClaims.startAgeMax }
}

/// Time of the claims of starts, by which they expire. It never passes faster than log time, and advances by at most one step with each commit: log
/// time stands still until the next entry, and then jumps. A claim from before the jump is as young as the card that it names, and after a night of
/// downtime the store still has the rows of ended cards.
struct StartClaimTime {
    private static let stepMax = Duration.seconds(600)

    private var time: FeedTime?
    private var last: FeedTime?

    /// Notes the time of a claim that the store has.
    mutating func note(_ made: FeedTime) { time = max(time ?? made, made) }

    /// - Parameter now: log time of a commit.
    /// - Returns: the time of its claims.
    mutating func advance(to now: FeedTime) -> FeedTime {
        let step = min(max(.zero, now - (last ?? now)), StartClaimTime.stepMax)
        last = max(last ?? now, now)
        let advanced = (time ?? now) + step
        time = advanced
        return advanced
    }
}

/// Store of claims, completions and a stamp ceiling. Its calls block; they are for a thread of its own (`ClaimQueue`), or for the time before
/// anything runs. Confined to one thread at a time.
package protocol ClaimStore: AnyObject, Sendable {
    /// Log time since when all alerts and starts have left with claims; `nil` for a new store.
    var start: FeedTime? { get }

    /// Notes that from that log time on all alerts and starts leave with claims.
    func begin(at start: FeedTime) throws(LogError)

    /// The greatest stamp (`aps.timestamp`) that a push may have had; `nil` if none was reserved.
    var stampCeiling: Int64? { get }

    /// Appends claims, changes completions and sets the stamp ceiling, if there is one, and returns when all are durable. The same call may be
    /// repeated after an error. Expired claims are removed.
    func append(_ claims: [StoredClaims], _ changes: CompletionChanges, stampCeiling: Int64?) throws(LogError)

    /// Calls the closure with all claims of alerts, in order, and with all of starts.
    func read(_ body: (StoredClaims) -> Void) throws(LogError)

    /// Calls the closure with all completions.
    ///
    /// - Returns: the point of the log up to which they are known; `nil` if they are void.
    func readCompletions(_ body: (CompletionKey, StoredCompletion) -> Void) throws(LogError) -> CompletionHead?

    /// Bytes of the claims' file.
    var diskSize: DiskSize { get }

    /// Releases the folder and other resources.
    func close()
}

extension ClaimStore {
    package var diskSize: DiskSize { DiskSize() }
}

extension ClaimStore {
    package func append(
        _ claims: [StoredClaims], _ changes: CompletionChanges = CompletionChanges()
    ) throws(LogError) { try append(claims, changes, stampCeiling: nil) }

    /// Makes the ceiling durable with which a process begins.
    ///
    /// - Parameter now: wall clock time.
    /// - Returns: bounds on the stamps of the process.
    package func reserveStamps(at now: FeedTime) throws(LogError) -> StampBounds {
        let bounds = StampBounds(after: stampCeiling, at: now)
        try append([], CompletionChanges(), stampCeiling: bounds.ceiling)
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
    package private(set) var starts: [StoredClaims] = []
    private var startTime = StartClaimTime()

    package init() {}

    package func begin(at start: FeedTime) { self.start = start }

    package private(set) var completions: [CompletionKey: StoredCompletion] = [:]
    private var head: CompletionHead?
    package private(set) var stampCeiling: Int64?

    package func readCompletions(_ body: (CompletionKey, StoredCompletion) -> Void) -> CompletionHead? {
        for (key, completion) in completions { body(key, completion) }
        return head
    }

    package func append(_ new: [StoredClaims], _ changes: CompletionChanges, stampCeiling ceiling: Int64? = nil) {
        stampCeiling = ceiling ?? stampCeiling
        if changes.isVoid { (completions, head) = ([:], nil) }
        for (key, completion) in changes.sorted { completions[key] = completion }
        head = changes.head ?? head
        claims += new.compactMap(\.ofAlerts)
        guard let now = new.last?.now else { return }
        claims.removeFirst(claims.prefix { $0.expires < now }.count)
        let time = startTime.advance(to: now)
        starts += new.compactMap(\.ofStarts).map { $0.made(at: time) }
        starts.removeFirst(starts.prefix { $0.startsExpire < time }.count)
    }

    package func read(_ body: (StoredClaims) -> Void) { for claims in claims + starts { body(claims) } }
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
        /// Log time through which alerts may have left for all followers.
        var all: FeedTime?

        mutating func insert(_ claim: AlertClaim) {
            if claim.activities.isEmpty { all = max(all ?? claim.through, claim.through) }
            for mark in claim.activities { through[mark] = max(through[mark] ?? claim.through, claim.through) }
        }
    }

    private var claims: [Key: Claims] = [:]
    private var starts: [AppID?: Set<StartMark>] = [:]
    private let now: FeedTime

    /// - Parameter now: log time; expired claims do not count.
    package init(now: FeedTime) { self.now = now }

    package mutating func insert(_ stored: StoredClaims) {
        for claim in stored.claims where claim.expires >= now {
            let key = Key(app: stored.app, topic: claim.topic)
            claims[key, default: Claims()].insert(claim)
        }
        if !stored.starts.isEmpty { starts[stored.app, default: []].formUnion(stored.starts) }
    }

    /// Returns whether the start may have left, or one with the same name.
    ///
    /// - Parameter app: app of the activity; `nil` if nothing is sent to APNs.
    package func mayHaveLeft(_ mark: StartMark, app: AppID?) -> Bool { starts[app]?.contains(mark) ?? false }

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
