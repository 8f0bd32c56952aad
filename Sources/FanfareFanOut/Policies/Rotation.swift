package import FanfareModel

/// Which topic of a lineup has the spotlight: what just happened, held for a while, then the most important live topic
/// (rules M1, M2).
///
/// Pure, one value per lineup. Its clock counts milliseconds and never goes back. Positions are those in the person's own
/// order, which nothing here changes: people find a match where they put it.
package struct Rotation: Sendable {
    /// A topic as the rotation sees it.
    package struct Topic: Sendable, Hashable {
        package enum Life: Sendable {
            /// It has a state to show, and has not begun.
            case waiting
            case live
            /// Over, and shown until its dismissal.
            case ended
            /// Dismissed, or never published: nothing of it is shown.
            case gone
        }

        package var life: Life
        /// 0–100: how much it matters beside others while nothing happens.
        package var importance: Int

        package init(_ life: Life, importance: Int = 0) {
            self.life = life
            self.importance = importance
        }
    }

    /// Has the spotlight; `nil` before there is anything to show.
    package private(set) var position: Int?
    /// Rests here whenever this topic is live.
    package let pinned: Int?
    private var held: (weight: Int, until: FeedTime)?
    /// In a round: when the next topic has its turn.
    private var turnEnds: FeedTime?
    private var budget: TokenBucket

    package init(_ rules: LineupRules, pinned: Int? = nil, at now: FeedTime) {
        self.pinned = pinned
        budget = TokenBucket(rules.rotationPushes, at: now)
    }

    /// All but the favourite in few bytes, for whoever keeps very many of them.
    struct Resting {
        /// 255: none.
        fileprivate var position: UInt8
        /// 255: nothing is held.
        fileprivate var weight: UInt8
        fileprivate var heldUntil: Int64
        /// `Int64.max`: none.
        fileprivate var turnEnds: Int64
        fileprivate var credit: Int64
        fileprivate var creditAt: Int64
    }

    var resting: Resting {
        let level = budget.level
        return Resting(
            position: position.map(UInt8.init) ?? .max, weight: held.map { UInt8(clamping: $0.weight) } ?? .max,
            heldUntil: held?.until.milliseconds ?? 0, turnEnds: turnEnds?.milliseconds ?? .max,
            credit: level.creditMilliseconds, creditAt: level.updatedAt.milliseconds)
    }

    init(_ resting: Resting, _ rules: LineupRules, pinned: Int?) {
        self.pinned = pinned
        position = resting.position == .max ? nil : Int(resting.position)
        held = resting.weight == .max ? nil : (Int(resting.weight), FeedTime(milliseconds: resting.heldUntil))
        turnEnds = resting.turnEnds == .max ? nil : FeedTime(milliseconds: resting.turnEnds)
        budget = TokenBucket(
            rules.rotationPushes, (resting.credit, FeedTime(milliseconds: resting.creditAt)))
    }

    /// Something has happened in a topic. It has the spotlight at once, unless something weightier happened elsewhere and its
    /// dwell time is not over.
    ///
    /// - Parameter weight: 0–100, beside other news.
    /// - Parameter alerts: an alert goes out, and takes the spotlight whatever is held: its push shows what it tells of (rule A4).
    package mutating func happened(
        at position: Int, weight: Int, alerts: Bool = false, _ rules: LineupRules, now: FeedTime
    ) {
        var weight = weight
        if let held, now < held.until, !alerts {
            // More of the same topic holds it longer, and makes what happened before no lighter.
            guard position == self.position || weight >= held.weight else { return }
            if position == self.position { weight = max(weight, held.weight) }
        }
        held = (weight, now + rules.dwell)
        move(to: position, rules, now: now)
    }

    /// Where the spotlight belongs now; `nil` when nothing is shown.
    package func wanted(_ topics: [Topic], now: FeedTime) -> Int? {
        let current = position.flatMap { topics[$0].life == .gone ? nil : $0 }
        if let current, let held, now < held.until { return current }
        func isLive(_ index: Int) -> Bool { topics[index].life == .live }
        // Of equals the first in the person's order.
        var most: Int?
        for index in topics.indices where isLive(index) {
            if let most, topics[index].importance <= topics[most].importance { continue }
            most = index
        }
        guard let most else {
            // Nothing is at stake: it stays, and else rests on what is still to come.
            return current ?? topics.firstIndex { $0.life == .waiting } ?? topics.firstIndex { $0.life == .ended }
        }
        if let pinned, isLive(pinned) { return pinned }
        if let turnEnds, let current, isLive(current) {
            if now < turnEnds { return current }
            return topics.indices.first { $0 > current && isLive($0) } ?? topics.indices.first(where: isLive)
        }
        return most
    }

    /// The spotlight goes there: with a push that is made anyway, or with one that `mayPush` has granted.
    package mutating func move(to position: Int?, _ rules: LineupRules, now: FeedTime) {
        self.position = position
        if let held, held.until <= now { self.held = nil }
        turnEnds = rules.round.map { (held?.until ?? now) + $0 }
    }

    /// Whether the rotation may have a push of its own, which it takes from its budget. None while nothing is live.
    package mutating func mayPush(_ topics: [Topic], now: FeedTime) -> Bool {
        topics.contains { $0.life == .live } && budget.take(at: now)
    }

    /// When what is `wanted` may be another topic although nothing happens; `nil`: never. Where a dwell time ends is known
    /// before it is over: what makes a difference until then is something that happens.
    package func looksAgain(_ topics: [Topic], now: FeedTime) -> FeedTime? {
        let live = topics.count { $0.life == .live }
        guard live > 0 else { return nil }
        let free = held.map { max($0.until, now) } ?? now
        if wanted(topics, now: free) != position { return free > now ? free : now + budget.wait(at: now) }
        // A round is of several, and none goes on while the favourite is live.
        guard live > 1, pinned.map({ topics[$0].life != .live }) ?? true else { return nil }
        return turnEnds.map { max($0, free) }
    }
}
