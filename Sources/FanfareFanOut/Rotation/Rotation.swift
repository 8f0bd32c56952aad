package import FanfareModel

/// Decides which topic of a lineup has the spotlight: the topic with the latest news for its dwell time, then the most important live
/// topic (rules M1, M2).
///
/// A rotation is a pure value, one per lineup. Its times are whole milliseconds, as its bucket's are. Positions are those in the lineup's
/// selection, which the rotation never changes. The order of the rows (`RowOrder`) decides between topics that are equal otherwise.
package struct Rotation: Sendable {
    /// Position of the topic in the spotlight; `nil` before there is anything to show.
    package private(set) var position: Int?
    /// Position of the favourite, to which the spotlight returns while that topic is live.
    package let pinned: Int?
    private var dwell: (weight: Int, until: MonotonicTime)?
    /// The time at which a cycle moves on to its next topic; `nil` without cycles.
    private var turnEnds: MonotonicTime?
    private var budget: TokenBucket

    package init(_ rules: LineupRules, pinned: Int? = nil, at now: MonotonicTime) {
        self.pinned = pinned
        budget = TokenBucket(rules.rotationPushes, at: now.inBuckets)
    }

    var resting: RestingRotation {
        let owed = budget.storedDebt
        return RestingRotation(
            position: position.map(UInt8.init) ?? .max, weight: dwell.map { UInt8(clamping: $0.weight) } ?? .max,
            dwellEnds: dwell?.until ?? .always, turnEnds: turnEnds ?? .always, debt: owed.debtMilliseconds,
            debtAt: owed.updatedAt)
    }

    init(_ resting: RestingRotation, _ rules: LineupRules, pinned: Int?) {
        self.pinned = pinned
        position = resting.position == .max ? nil : Int(resting.position)
        dwell = resting.weight == .max ? nil : (Int(resting.weight), resting.dwellEnds)
        turnEnds = resting.turnEnds > .always ? resting.turnEnds : nil
        budget = TokenBucket(rules.rotationPushes, debt: (resting.debt, resting.debtAt))
    }

    /// Gives the spotlight to a topic that has news, at once, unless weightier news of another topic still has its dwell time.
    ///
    /// - Parameter weight: weight of the news, 0–100, compared with other news.
    /// - Parameter alerts: whether an alert goes out. It takes the spotlight in any case: its push shows the topic it is about (rule A4).
    package mutating func happened(
        at position: Int, weight: Int, alerts: Bool = false, _ rules: LineupRules, now: MonotonicTime
    ) {
        var weight = weight
        if let dwell, now < dwell.until, !alerts {
            // Further news of the same topic extends the dwell time and never lowers the weight of the news before.
            guard position == self.position || weight >= dwell.weight else { return }
            if position == self.position { weight = max(weight, dwell.weight) }
        }
        dwell = (weight, now.truncatedToMilliseconds.advanced(byMilliseconds: rules.dwell))
        move(to: position, rules, now: now)
    }

    /// Returns the position at which the spotlight belongs now; `nil` when nothing is shown.
    package func wanted(_ topics: [SpotlightCandidate], now: MonotonicTime) -> Int? {
        let current = position.flatMap { topics[$0].life == .gone ? nil : $0 }
        if let current, let dwell, now < dwell.until { return current }
        func isLive(_ index: Int) -> Bool { topics[index].life == .live }
        // The first row wins among equals.
        var most: Int?
        for index in topics.indices where isLive(index) {
            if let most {
                let (new, old) = (topics[index], topics[most])
                guard (new.importance, old.scheduledAt) > (old.importance, new.scheduledAt) else { continue }
            }
            most = index
        }
        guard let most else {
            // No topic is live: the spotlight stays; failing that, it goes to a topic that has not begun, then to one that has ended.
            return current ?? topics.firstRow { topics[$0].life == .upcoming }
                ?? topics.firstRow { topics[$0].life == .ended }
        }
        if let pinned, isLive(pinned) { return pinned }
        if let turnEnds, let current, isLive(current) {
            if now < turnEnds { return current }
            return topics.firstRow { isLive($0) && topics.isRow(current, before: $0) } ?? topics.firstRow(where: isLive)
        }
        return most
    }

    /// Moves the spotlight, with a push that is made anyway or with one that `mayPush` has granted.
    package mutating func move(to position: Int?, _ rules: LineupRules, now: MonotonicTime) {
        self.position = position
        if let dwell, dwell.until <= now { self.dwell = nil }
        turnEnds = rules.round.map { (dwell?.until ?? now.truncatedToMilliseconds).advanced(byMilliseconds: $0) }
    }

    /// Takes one push for the rotation alone from its budget, unless no topic is live.
    ///
    /// - Returns: whether the push is granted.
    package mutating func mayPush(_ topics: [SpotlightCandidate], now: MonotonicTime) -> Bool {
        topics.contains { $0.life == .live } && budget.take(at: now.inBuckets)
    }

    /// Returns the time at which `mayPush` will grant a push; `nil` while no topic is live.
    package func mayPushAgain(_ topics: [SpotlightCandidate], now: MonotonicTime) -> MonotonicTime? {
        topics.contains { $0.life == .live } ? now.truncatedToMilliseconds + budget.wait(at: now.inBuckets) : nil
    }

    /// Returns whether a cycle moves the spotlight on, if the rules have cycles. A cycle needs several live topics, and stops while the favourite is
    /// live.
    package func goesRound(_ topics: [SpotlightCandidate]) -> Bool {
        topics.count { $0.life == .live } > 1 && (pinned.map { topics[$0].life != .live } ?? true)
    }

    /// Returns the next time at which `wanted` may be another topic although nothing happens; `nil` for never. The end of a dwell time is
    /// known in advance: only news can change the spotlight before it.
    package func looksAgain(_ topics: [SpotlightCandidate], now: MonotonicTime) -> MonotonicTime? {
        let now = now.truncatedToMilliseconds
        let live = topics.count { $0.life == .live }
        guard live > 0 else { return nil }
        let free = dwell.map { max($0.until, now) } ?? now
        if wanted(topics, now: free) != position { return free > now ? free : now + budget.wait(at: now.inBuckets) }
        guard let turnEnds, goesRound(topics) else { return nil }
        return max(turnEnds, free)
    }
}

extension MonotonicTime {
    /// The time without its fraction of a millisecond.
    fileprivate var truncatedToMilliseconds: MonotonicTime {
        MonotonicTime(nanoseconds: nanoseconds / 1_000_000 * 1_000_000)
    }

    /// The time as token buckets count it. They are made for log time, and require only that time does not go back.
    fileprivate var inBuckets: FeedTime { FeedTime(milliseconds: nanoseconds / 1_000_000) }

    /// Returns the time after the whole milliseconds of a wait.
    fileprivate func advanced(byMilliseconds wait: Duration) -> MonotonicTime {
        advanced(byNanoseconds: wait.milliseconds * 1_000_000)
    }
}

extension [SpotlightCandidate] {
    /// Returns whether the row of one topic stands before that of another one, by their positions.
    fileprivate func isRow(_ a: Int, before b: Int) -> Bool { (self[a].scheduledAt, a) < (self[b].scheduledAt, b) }

    /// Returns the position of the first row for which a condition holds.
    fileprivate func firstRow(where condition: (Int) -> Bool) -> Int? {
        var first: Int?
        for position in indices where condition(position) {
            if let first, isRow(first, before: position) { continue }
            first = position
        }
        return first
    }
}
