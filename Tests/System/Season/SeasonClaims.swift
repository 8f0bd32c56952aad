import FanfareLog
import FanfareModel

/// The claims of a season's store, which are written in batches.
final class SeasonClaims {
    private let folder: ClaimFolder
    private let batchMax: Int
    /// Claims of each day that a planted leak keeps from expiring. The store removes claims in order, and none behind these.
    private let leaks: Int
    /// Claims of this day that the leak has kept.
    private var leaked = 0
    /// Claims of the next commit.
    private var held: [StoredClaims] = []
    /// Time from which on further claims make a commit; `nil` before the first ones.
    private var due: FeedTime?

    /// Time between two commits: the time of claims of starts, by which these expire, advances by no more with a commit.
    private static let interval = Duration.seconds(600)
    /// Age of the claims that a planted leak keeps: more than that of any season.
    private static let leakAge = Duration.seconds(10_000 * 86_400)

    init(_ folder: ClaimFolder, batchMax: Int, leaks: Int) {
        self.folder = folder
        self.batchMax = batchMax
        self.leaks = leaks
    }

    /// Takes a request for claims that the shard has made at that log time.
    func take(_ claims: [AlertClaim], starts: [StartMark], at now: FeedTime) throws {
        held.append(StoredClaims(claims.map(stored), starts: starts, app: nil, now: now))
        let due = due ?? now + SeasonClaims.interval
        self.due = due
        if now >= due || held.count >= batchMax { try write(at: now) }
    }

    /// Returns the claim as the store gets it: one that does not expire if a leak is planted.
    private func stored(_ claim: AlertClaim) -> AlertClaim {
        guard leaked < leaks else { return claim }
        leaked += 1
        return AlertClaim(
            topic: claim.topic, through: claim.through, expires: claim.expires + SeasonClaims.leakAge,
            activities: claim.activities)
    }

    func write(at now: FeedTime) throws {
        due = now + SeasonClaims.interval
        try folder.append(held)
        held.removeAll(keepingCapacity: true)
    }

    /// Number of rows.
    func count() throws -> Int {
        var count = 0
        try folder.read { _ in count += 1 }
        return count
    }

    func beginDay() { leaked = 0 }
}
