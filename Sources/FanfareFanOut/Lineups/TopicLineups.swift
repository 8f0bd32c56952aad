import FanfareModel

/// The lineups that show a topic, the topic's news that some of them have not looked at, and the cursor that visits them.
///
/// A publication changes only this object: O(1), however many lineups there are. Confined to its shard's thread.
final class TopicLineups: LaneMember {
    /// A publication of the topic that is news to some of its lineups.
    struct News {
        /// Number by order of arrival among the publications of all topics that lineups show.
        let number: NewsNumber
        let publication: Publication
        /// Arrival of the publication.
        let at: MonotonicTime
        let alert: IssuedAlert?
        /// Number of lineups that had not looked at it when it was dropped or removed.
        fileprivate(set) var lookers: Int
    }

    /// Numbers of news for a visit.
    struct Fact {
        let number: NewsNumber
        /// Number of lineups that have not looked at the news. A lineup of one member looks when its push is answered.
        fileprivate(set) var lookers: UInt32
        /// Arrival of the publication.
        let at: MonotonicTime
        /// Weight in the rotation; -1 for none.
        let weight: Int16
        let priority: Priority
        let isUrgent: Bool
        let hasAlert: Bool
    }

    /// The lineups that the cursor visits.
    private enum Pass { case inSpotlight, all }

    // Unchecked for the reason given in `Membership`.
    @safe @exclusivity(unchecked) var order = SweepOrder<LineupLink>()
    /// News that some lineup has not looked at, the oldest first.
    @safe @exclusivity(unchecked) private(set) var news: [News] = []
    /// The facts of `news`, in the same places.
    @safe @exclusivity(unchecked) private var facts: [Fact] = []
    /// The last alerts of each class, kept for revocation and for lineups that wake up.
    @safe @exclusivity(unchecked) private(set) var alerts: [IssuedAlert] = []
    /// Number of the topic's last news, looked at or not.
    @safe @exclusivity(unchecked) private(set) var newest: NewsNumber
    /// The cursor's present pass. Urgent news go first to the lineups that have this topic in their spotlight: their cards are most out of
    /// date.
    @safe @exclusivity(unchecked) private var pass = Pass.all
    /// Visits after which the cursor has brought the last news of each lane to all lineups, by lane.
    @safe @exclusivity(unchecked) private var unreached = SIMD2<Int>()
    /// Is `true` while the topic is in `LineupTable`'s list of those with news.
    @safe @exclusivity(unchecked) var isListed = false

    /// Maximum of news that are kept. A match has some 70 versions.
    static let newsMax = 64

    init(newest: NewsNumber) { self.newest = newest }

    // MARK: Publishing

    /// Adds news for all lineups of the topic. O(1).
    ///
    /// - Parameter forget: receives an alert that is kept no more.
    /// - Returns: news that were dropped for lack of room; a lineup that has not looked at them looks only at later ones.
    func append(
        _ publication: Publication, alert: IssuedAlert?, number: NewsNumber, at now: MonotonicTime,
        forget: (IssuedAlert) -> Void
    ) -> News? {
        var dropped: News?
        if news.isEmpty { rest() }
        // The second pass is still to come, and brings this publication, too. A first pass that restarted with each publication would starve the
        // lineups of the second.
        let isInFirstPass = pass == .inSpotlight && hasWork
        if news.count == TopicLineups.newsMax {
            let place = news.lastIndex { $0.alert == nil } ?? 0
            dropped = news.remove(at: place)
            dropped?.lookers = Int(facts.remove(at: place).lookers)
        }
        newest = number
        news.append(News(number: number, publication: publication, at: now, alert: alert, lookers: 0))
        let weight = publication.prominence.occasionWeight ?? (alert != nil ? 0 : nil)
        facts.append(
            Fact(
                number: number, lookers: UInt32(order.count), at: now, weight: weight.map { Int16($0) } ?? -1,
                priority: alert != nil ? .immediate : publication.priority,
                isUrgent: alert != nil || publication.isUrgent, hasAlert: alert != nil))
        if let alert { keep(alert, forget) }
        if !isInFirstPass {
            if alert != nil || publication.isUrgent {
                pass = .inSpotlight
                // The lineups that lack earlier news of a lane get them after this first pass.
                unreached.replace(with: unreached &+ order.count, where: unreached .> 0)
            }
            order.restart()
        }
        let lane = alert != nil || publication.event == .end ? 0 : publication.priority == .immediate ? 1 : 2
        if lane < unreached.scalarCount { unreached[lane] = order.remaining + (pass == .inSpotlight ? order.count : 0) }
        return dropped
    }

    private func keep(_ alert: IssuedAlert, _ forget: (IssuedAlert) -> Void) {
        if alerts.count(where: { $0.alert.class == alert.alert.class }) == PendingAlert.perClassMax,
            let first = alerts.firstIndex(where: { $0.alert.class == alert.alert.class })
        {
            forget(alerts.remove(at: first))
        }
        alerts.append(alert)
    }

    /// Revokes the alerts of a cause in all lineups: no further push carries them.
    func revoke(cause: String) {
        for alert in alerts + news.compactMap(\.alert) where alert.alert.cause == cause { alert.isRevoked = true }
    }

    // MARK: Looking

    /// Notes that one lineup looks at all news after a number.
    ///
    /// - Parameters:
    ///   - last: number of the last news that it looks at.
    ///   - look: receives each of these news.
    ///   - exhaust: receives news that no other lineup has to look at, before they are removed.
    func take(after number: NewsNumber, through last: NewsNumber, look: (News) -> Void, exhaust: (News) -> Void) {
        let places = places(after: number, through: last)
        for index in places {
            facts[index].lookers -= 1
            look(news[index])
        }
        removeExhausted(places, exhaust)
    }

    /// Notes that one lineup looks at all news after a number, as `take` does; `alert` receives the alerts of the news.
    func settle(
        after number: NewsNumber, through last: NewsNumber, alert: (IssuedAlert) -> Void, exhaust: (News) -> Void
    ) {
        let places = places(after: number, through: last)
        for index in places {
            facts[index].lookers -= 1
            if facts[index].hasAlert, let issue = news[index].alert { alert(issue) }
        }
        removeExhausted(places, exhaust)
    }

    func forEachFact(after number: NewsNumber, _ body: (Fact) -> Void) {
        for index in places(after: number, through: newest) { body(facts[index]) }
    }

    func alert(of number: NewsNumber) -> IssuedAlert? {
        facts.lastIndex { $0.number == number }.flatMap { news[$0].alert }
    }

    /// Places of the news after a number up to another one.
    @inline(__always)
    private func places(after number: NewsNumber, through last: NewsNumber) -> Range<Int> {
        var end = facts.count
        while end > 0, facts[end - 1].number > last { end -= 1 }
        var start = end
        while start > 0, facts[start - 1].number > number { start -= 1 }
        return start..<end
    }

    private func removeExhausted(_ looked: Range<Int>, _ exhaust: (News) -> Void) {
        guard looked.contains(where: { facts[$0].lookers == 0 }) else { return }
        for (place, each) in news.enumerated() where facts[place].lookers == 0 { exhaust(each) }
        var kept = 0
        for place in facts.indices where facts[place].lookers > 0 {
            (news[kept], facts[kept]) = (news[place], facts[place])
            kept += 1
        }
        news.removeLast(news.count - kept)
        facts.removeLast(facts.count - kept)
    }

    // MARK: The cursor

    override var hasWork: Bool { order.remaining > 0 && !news.isEmpty }

    /// The lane of the most urgent news that some lineup lacks. A later version goes, in its own lane, to the lineups that the cursor has reached.
    override var preferredLane: Int { unreached[0] > 0 ? 0 : unreached[1] > 0 ? 1 : 2 }

    /// Number of lineups from the cursor on that lack the news of the most urgent lane.
    var unreachedInLane: Int { unreached[0] > 0 ? unreached[0] : unreached[1] > 0 ? unreached[1] : .max }

    /// Maximum of lineups that have not looked at some of the news.
    var lookers: Int { Int(facts.lazy.map(\.lookers).max() ?? 0) }

    /// Returns the next links under the cursor, at most `limit`, and whether only those are to be visited whose lineups have the topic in
    /// their spotlight.
    func next(limit: Int) -> (links: ArraySlice<LineupLink>, spotlightOnly: Bool) {
        (order.next(limit: limit), pass == .inSpotlight)
    }

    /// Notes visits to the next links under the cursor, and advances it.
    func visited(_ count: Int) {
        order.advance(by: count)
        unreached = pointwiseMax(SIMD2(), unreached &- count)
        if news.isEmpty {
            // Other visits have brought the unvisited lineups up to date.
            rest()
        } else if order.remaining == 0 {
            if pass == .all { return rest() }
            pass = .all
            order.restart()
        }
    }

    private func rest() {
        pass = .all
        unreached = SIMD2()
    }

    /// Returns whether the cursor will visit the lineup at a place; for checks.
    func reaches(_ place: Int) -> Bool { pass == .inSpotlight && order.remaining > 0 || order.isUnvisited(place) }

    /// Describes a violated invariant; `nil` if there is none.
    func violation() -> String? {
        guard zip(news, news.dropFirst()).allSatisfy({ $1.number > $0.number }),
            facts.allSatisfy({ (1...UInt32(order.count)).contains($0.lookers) }),
            facts.map(\.number) == news.map(\.number)
        else { return "news of a topic are kept that nobody is to look at" }
        return order.violation()
    }
}

/// A lineup's place for one of its topics: an index into the columns of `LineupTable`.
struct LineupLink: SweepMember, Hashable {
    let rawValue: UInt32
    var index: Int { Int(rawValue) }
}

extension Publication {
    /// Is `true` when the topic's lineups publish the change at once, together with their waiting changes.
    var isUrgent: Bool { alert != nil || event == .update && priority == .immediate }
}
