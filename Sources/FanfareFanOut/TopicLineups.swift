import FanfareModel

/// The lineups that show a topic, what they have not looked at of its news, and how far the cursor has come that goes round them.
///
/// Publishing touches nothing but this object: O(1), however many lineups there are. Confined to its shard's thread.
final class TopicLineups: LaneMember {
    /// A publication of the topic that is news to some of its lineups.
    struct News {
        /// Counts the publications of all topics that lineups show: the order in which they came.
        let number: NewsNumber
        let publication: Publication
        /// When it came, monotonic nanoseconds.
        let at: Int64
        let alert: IssuedAlert?
        /// Lineups that have not looked at it.
        fileprivate(set) var lookers: Int
    }

    /// Which lineups the cursor visits.
    private enum Pass { case lit, all }

    // Unchecked for the reason given in `Shard`.
    @exclusivity(unchecked) var order = SweepOrder<LineupLink>()
    /// The oldest first. Each of them is news to somebody.
    @exclusivity(unchecked) private(set) var news: [News] = []
    /// The last ones of each class, for whoever revokes them.
    @exclusivity(unchecked) private(set) var alerts: [IssuedAlert] = []
    /// Number of the last one, looked at or not.
    @exclusivity(unchecked) private(set) var newest: NewsNumber
    /// What must be seen at once goes first to those whose card has just this topic whole: it is the one that is most wrong.
    @exclusivity(unchecked) private var pass = Pass.all
    /// How urgent the news are that the cursor brings.
    @exclusivity(unchecked) private var lanePreferred = Lanes.lastLane

    /// As many as are kept while nobody looks at them. A match has some 70 versions.
    static let newsMax = 64

    init(newest: NewsNumber) { self.newest = newest }

    // MARK: Publishing

    /// News to all lineups of the topic. O(1).
    ///
    /// - Returns: news for which there is no room any more: what came after them is all that most will ever look at.
    func append(_ publication: Publication, alert: IssuedAlert?, number: NewsNumber, at now: Int64) -> News? {
        var dropped: News?
        if news.isEmpty { rest() }
        // The second round, which is to come, brings this, too. To begin the first one again with each publication would keep all others
        // from the second.
        let isInFirstRound = pass == .lit && hasWork
        if news.count == TopicLineups.newsMax {
            dropped = news.remove(at: news.lastIndex { $0.alert == nil } ?? 0)
        }
        newest = number
        news.append(News(number: number, publication: publication, at: now, alert: alert, lookers: order.count))
        if let alert { keep(alert) }
        if !isInFirstRound {
            if publication.isUrgent { pass = .lit }
            order.restart()
        }
        lanePreferred = min(
            lanePreferred,
            alert != nil || publication.event == .end ? 0 : publication.priority == .immediate ? 1 : 2)
        return dropped
    }

    private func keep(_ alert: IssuedAlert) {
        if alerts.count(where: { $0.alert.class == alert.alert.class }) == AlertHistory.perClassMax,
            let first = alerts.firstIndex(where: { $0.alert.class == alert.alert.class })
        {
            alerts.remove(at: first)
        }
        alerts.append(alert)
    }

    /// Alerts of that cause ride no more, in whatever lineup.
    func revoke(cause: String) {
        for alert in alerts + news.compactMap(\.alert) where alert.alert.cause == cause { alert.isRevoked = true }
    }

    // MARK: Looking

    /// A lineup looks at what came after that.
    ///
    /// - Parameter look: is told of each of them, and of those that nobody else is to look at any more.
    func take(after number: NewsNumber, look: (News) -> Void, exhaust: (News) -> Void) {
        var index = news.count
        while index > 0, news[index - 1].number > number {
            index -= 1
            news[index].lookers -= 1
        }
        for each in news[index...] { look(each) }
        guard index < news.count, news[index...].contains(where: { $0.lookers == 0 }) else { return }
        for each in news where each.lookers == 0 { exhaust(each) }
        news.removeAll { $0.lookers == 0 }
    }

    // MARK: The cursor

    override var lineups: TopicLineups? { self }

    override var hasWork: Bool { order.remaining > 0 && !news.isEmpty }

    override var preferredLane: Int { lanePreferred }

    /// The next ones under the cursor, at most `limit`.
    ///
    /// - Returns: whether only those are to be visited that have the topic in their spotlight, too.
    func next(limit: Int) -> (links: ArraySlice<LineupLink>, onlyLit: Bool) {
        (order.next(limit: limit), pass == .lit)
    }

    /// So many of them have been visited.
    func visited(_ count: Int) {
        order.advance(by: count)
        if news.isEmpty {
            // Those that are left have been brought up to date by others.
            rest()
        } else if order.remaining == 0 {
            if pass == .all { return rest() }
            pass = .all
            order.restart()
        }
    }

    private func rest() {
        pass = .all
        lanePreferred = Lanes.lastLane
    }

    /// For checks: the cursor will come to the lineup at that place.
    func reaches(_ place: Int) -> Bool { pass == .lit && order.remaining > 0 || order.isUnvisited(place) }

    /// What does not hold, or `nil`.
    func violation() -> String? {
        guard zip(news, news.dropFirst()).allSatisfy({ $1.number > $0.number }),
            news.allSatisfy({ (1...order.count).contains($0.lookers) })
        else { return "news of a topic are kept that nobody is to look at" }
        return nil
    }
}

/// A lineup's place for one of its topics: an index into the columns of `LineupTable`.
struct LineupLink: SweepMember, Hashable {
    let rawValue: UInt32
    var index: Int { Int(rawValue) }
}

/// Counts news. It goes round: of two the newer is told from the older while fewer than 2³¹ lie between them, and a lineup lasts for
/// eight hours.
struct NewsNumber: Comparable {
    private(set) var rawValue: UInt32 = 0

    static func < (a: NewsNumber, b: NewsNumber) -> Bool { Int32(bitPattern: a.rawValue &- b.rawValue) < 0 }

    mutating func advance() { rawValue &+= 1 }
}

extension Publication {
    /// Comes out in its lineups at once, and takes along what waits there.
    var isUrgent: Bool { alert != nil || event == .update && priority == .immediate }
}
