import FanfareModel

/// The lineups of a shard: which topics each of them shows, and what of their news it has looked at.
///
/// A lineup is a row, and for each of its topics a link, in columns of small numbers. The same topics in the same order, with the same
/// favourite, are one lineup.
struct LineupTable {
    private struct Row {
        /// The first of its links; the others follow.
        var start: UInt32 = 0
        var count: UInt8 = 0
        /// Index into its topics.
        var pinned = Row.none
        /// It has looked at all news up to this.
        var looked = NewsNumber()
        /// Index of its members' audience.
        var audience: UInt32 = 0
        /// The last news before it was there.
        var born = NewsNumber()

        static let none = UInt8.max
    }

    /// What is to be known of a lineup whose only member has its newest version, while nothing is owed.
    private struct Rest {
        var member = ActivitySlot(.max)
        /// Of its newest version, as all that follows.
        var number: UInt32 = 0
        var display: UInt64 = 0
        var publishedAt = Rest.never
        var rotation: Rotation.Resting?
        var wakeUp: TimingWheel.Entry?
        /// Topics that it shows, and which of them has the spotlight.
        var shown: UInt8 = 0
        var spotlight: UInt8 = 0
        /// Index into the lineup's topics; 255: none.
        var lit = UInt8.max
        var priority = Priority.conserving
        /// Alerts, by class.
        var seen = SIMD2<UInt8>()

        static let never = Int64.min
    }

    private var rows: [Row] = []
    private var freeRows: [Int] = []
    /// By row.
    private var rests: [Rest] = []
    /// By audience.
    private var rowOfAudience: [UInt32] = []
    /// Objects that were the audiences of lineups before these rested.
    private var spare: [Audience] = []
    private static let spareMax = 4096
    // By link.
    private var rowOfLink: [UInt32] = []
    private var topicOfLink: [UInt32] = []
    /// Its place in the topic's order.
    private var places: [UInt32] = []
    /// It is the one that the lineup's newest version has in its spotlight.
    private var isLit: [Bool] = []
    /// What the lineup's newest version shows, the first of its links first, while it rests.
    private var shown: [LineupTopic?] = []
    /// By number of topics: the first links of lineups that are no more.
    private var freeLinks: [[UInt32]] = Array(repeating: [], count: Lineup.topicsMax + 1)
    /// By topic.
    private var topics: [TopicLineups?] = []
    /// By choice: open addressing, the row's index and one.
    private var buckets: [UInt32] = Array(repeating: 0, count: 16)

    private(set) var count = 0
    /// Number of the last news.
    private var newest = NewsNumber()
    /// News that some lineup has not looked at.
    private(set) var openNews = 0
    /// What the lineup looks at that `take` was called for, in the order in which it came: the place of the topic in the lineup, and the
    /// publication. Kept, so that no look asks for memory.
    private(set) var taken: [(position: Int, news: TopicLineups.News)] = []
    /// Alerts of what was taken that the lineup has not been told of, the oldest first. Kept like `taken`.
    var unheard: [IssuedAlert] = []
    /// Publications that nobody is to look at any more.
    private(set) var exhausted: [UInt64] = []

    // MARK: Lineups

    func find(_ choice: Lineup.Choice) -> Int? {
        var bucket = home(LineupTable.hash(choice.topics, choice.pinned))
        while buckets[bucket] != 0 {
            let row = Int(buckets[bucket]) - 1
            if isChoice(row, choice) { return row }
            bucket = (bucket + 1) & (buckets.count - 1)
        }
        return nil
    }

    private func isChoice(_ row: Int, _ choice: Lineup.Choice) -> Bool {
        pinned(of: row) == choice.pinned && Int(rows[row].count) == choice.topics.count
            && topicIndices(of: row).elementsEqual(choice.topics)
    }

    /// The choice must not be in the table. It has looked at all that there is.
    mutating func insert(_ choice: Lineup.Choice, audience: Int) -> Int {
        var row = Row(count: UInt8(choice.topics.count), looked: newest, audience: UInt32(audience), born: newest)
        row.pinned = choice.pinned.map(UInt8.init) ?? Row.none
        row.start = freeLinks[choice.topics.count].popLast() ?? addLinks(choice.topics.count)
        let index: Int
        if let reused = freeRows.popLast() {
            index = reused
            rows[index] = row
        } else {
            index = rows.count
            rows.append(row)
            rests.append(Rest())
        }
        while rowOfAudience.count <= audience { rowOfAudience.append(0) }
        rowOfAudience[audience] = UInt32(index)
        for (position, topic) in choice.topics.enumerated() {
            let link = Int(row.start) + position
            rowOfLink[link] = UInt32(index)
            topicOfLink[link] = UInt32(topic)
            isLit[link] = false
            while topics.count <= topic { topics.append(nil) }
            let lineups = topics[topic] ?? TopicLineups(newest: newest)
            topics[topic] = lineups
            lineups.order.joinVisited(LineupLink(rawValue: UInt32(link)), positions: &places)
        }
        count += 1
        if count * 4 > buckets.count * 3 { rehash(buckets.count * 2) } else { place(index) }
        return index
    }

    private mutating func addLinks(_ count: Int) -> UInt32 {
        let start = rowOfLink.count
        rowOfLink.append(contentsOf: repeatElement(0, count: count))
        topicOfLink.append(contentsOf: repeatElement(0, count: count))
        places.append(contentsOf: repeatElement(0, count: count))
        isLit.append(contentsOf: repeatElement(false, count: count))
        shown.append(contentsOf: repeatElement(nil, count: count))
        return UInt32(start)
    }

    /// It must have looked at all news, and does not rest.
    mutating func remove(_ row: Int) {
        unplace(row)
        for link in links(of: row) {
            let topic = Int(topicOfLink[link])
            guard let lineups = topics[topic] else { continue }
            lineups.order.leave(at: Int(places[link]), positions: &places)
            // With the last lineup that the cursor had before it the first of its two rounds may be over.
            if lineups.order.count == 0 { topics[topic] = nil } else { lineups.visited(0) }
        }
        for link in links(of: row) { shown[link] = nil }
        freeLinks[Int(rows[row].count)].append(rows[row].start)
        rows[row] = Row()
        freeRows.append(row)
        count -= 1
    }

    func links(of row: Int) -> Range<Int> { Int(rows[row].start)..<Int(rows[row].start) + Int(rows[row].count) }

    func topicIndices(of row: Int) -> some Collection<Int> { topicOfLink[links(of: row)].lazy.map { Int($0) } }

    func pinned(of row: Int) -> Int? { rows[row].pinned == Row.none ? nil : Int(rows[row].pinned) }

    func audience(of row: Int) -> Int { Int(rows[row].audience) }

    func row(ofAudience index: Int) -> Int { Int(rowOfAudience[index]) }

    func row(of link: LineupLink) -> Int { Int(rowOfLink[link.index]) }

    func isLit(_ link: LineupLink) -> Bool { isLit[link.index] }

    /// Its newest version has that topic in the spotlight: an index into its topics.
    mutating func light(_ position: Int, of row: Int) {
        for link in links(of: row) where isLit[link] { isLit[link] = false }
        isLit[Int(rows[row].start) + position] = true
    }

    // MARK: Rest

    func isResting(_ row: Int) -> Bool { rests[row].rotation != nil }

    /// While it rests, or did last.
    func member(of row: Int) -> ActivitySlot { rests[row].member }
    func wakeUp(of row: Int) -> TimingWheel.Entry? { rests[row].wakeUp }
    func number(of row: Int) -> UInt32 { rests[row].number }

    /// The lineup rests: its audience's object can be another's.
    mutating func rest(_ row: Int, _ audience: Audience, _ lineup: Lineup) {
        let start = Int(rows[row].start)
        let display = lineup.display
        for (index, link) in links(of: row).enumerated() {
            let topic = index < display.topics.count ? display.topics[index] : nil
            if shown[link] !== topic { shown[start + index] = topic }
        }
        rests[row] = Rest(
            member: audience.order.members[0], number: audience.target, display: audience.ledger.newestDisplay,
            publishedAt: lineup.publishedAt ?? Rest.never, rotation: lineup.rotation.resting, wakeUp: lineup.wakeUp,
            shown: UInt8(display.topics.count), spotlight: UInt8(display.spotlight),
            lit: lineup.lit.map(UInt8.init) ?? .max, priority: audience.priority, seen: audience.alerts.resting)
        if spare.count < LineupTable.spareMax { spare.append(audience) }
    }

    /// The lineup rests no more.
    ///
    /// - Returns: its audience.
    mutating func wake(_ row: Int, _ rules: LineupRules, openMax: Int) -> Audience {
        guard let rotation = rests[row].rotation.take() else {
            preconditionFailure("a lineup wakes that does not rest")
        }
        let rest = rests[row]
        let audience =
            spare.popLast()
            ?? Audience(
                topics: [], lineup: Lineup(rotation: Rotation(rotation, rules, pinned: nil)), openMax: openMax)
        guard let lineup = audience.lineup else { preconditionFailure("the audience of a lineup has none") }
        audience.topics.removeAll(keepingCapacity: true)
        for link in links(of: row) { audience.topics.append(Int(topicOfLink[link])) }
        lineup.row = row
        lineup.tenant += 1
        lineup.rotation = Rotation(rotation, rules, pinned: pinned(of: row))
        lineup.lit = rest.lit == .max ? nil : Int(rest.lit)
        lineup.publishedAt = rest.publishedAt == Rest.never ? nil : rest.publishedAt
        lineup.wakeUp = rest.wakeUp
        lineup.historyIsShort = true
        let start = Int(rows[row].start)
        lineup.display.topics.removeAll(keepingCapacity: true)
        for index in 0..<Int(rest.shown) { if let topic = shown[start + index] { lineup.display.topics.append(topic) } }
        lineup.display.spotlight = Int(rest.spotlight)
        let version =
            rest.shown == 0
            ? nil
            : Audience.Version(
                event: .update, priority: rest.priority, latest: lineup.display.topics[Int(rest.spotlight)].publication,
                display: rest.display)
        audience.rest(rest.member, at: rest.number, version, priority: rest.priority, seen: rest.seen)
        return audience
    }

    // MARK: Alerts

    /// One fact may be in two topics of a lineup: whether an alert that says the same has come before this one. Facts of different
    /// topics may have one id, but then not the same words.
    func hasHeard(_ alert: IssuedAlert, _ row: Int) -> Bool {
        links(of: row).contains { link in
            topics[Int(topicOfLink[link])]?.alerts.contains {
                $0.words == alert.words && $0 !== alert && $0.news > rows[row].born && $0.news < alert.news
                    && $0.saysTheSame(as: alert)
            } == true
        }
    }

    /// Alerts that the lineup has looked at, the oldest first.
    func alertsHeard(_ row: Int) -> [IssuedAlert] {
        links(of: row).flatMap { topics[Int(topicOfLink[$0])]?.alerts ?? [] }
            .filter { $0.news > rows[row].born && $0.news <= rows[row].looked && !hasHeard($0, row) }
            .sorted { $0.news < $1.news }
    }

    // MARK: News

    /// The lineups that show a topic; `nil` where none does.
    subscript(topic: Int) -> TopicLineups? { topic < topics.count ? topics[topic] : nil }

    /// A topic that lineups show has been published. O(1).
    ///
    /// - Returns: news for which there is no room any more.
    mutating func publish(
        _ publication: Publication, to lineups: TopicLineups, alert: IssuedAlert?, at now: Int64
    ) -> TopicLineups.News? {
        newest.advance()
        openNews += 1
        alert?.news = newest
        let dropped = lineups.append(publication, alert: alert, number: newest, at: now)
        if dropped != nil { openNews -= 1 }
        return dropped
    }

    func hasNews(_ row: Int) -> Bool {
        let looked = rows[row].looked
        guard looked != newest else { return false }
        return links(of: row).contains { topics[Int(topicOfLink[$0])].map { $0.newest > looked } ?? false }
    }

    /// The lineup looks at all news of its topics: they are `taken` until the next call.
    mutating func take(_ row: Int) {
        taken.removeAll(keepingCapacity: true)
        exhausted.removeAll(keepingCapacity: true)
        let looked = rows[row].looked
        guard looked != newest else { return }
        rows[row].looked = newest
        for (position, link) in links(of: row).enumerated() {
            guard let lineups = topics[Int(topicOfLink[link])], lineups.newest > looked else { continue }
            lineups.take(after: looked) {
                taken.append((position, $0))
            } exhaust: {
                exhausted.append($0.publication.serial)
                openNews -= 1
            }
        }
        if taken.count > 1 { taken.sort { $0.news.number < $1.news.number } }
    }

    /// Of the topics that have news by now those whose lineups have not looked at them.
    func unvisited() -> Unvisited {
        Unvisited(topics: topics.compactMap { $0?.news.isEmpty == false ? $0 : nil }, newest: newest)
    }

    struct Unvisited {
        fileprivate var topics: [TopicLineups]
        fileprivate let newest: NewsNumber

        /// All have been looked at. Each call costs no more than what has been since the last one.
        mutating func isEmpty() -> Bool {
            while let last = topics.last {
                if let oldest = last.news.first, oldest.number <= newest { return false }
                topics.removeLast()
            }
            return true
        }
    }

    // MARK: Finding a choice

    private static func hash(_ topics: some Collection<Int>, _ pinned: Int?) -> UInt64 {
        topics.reduce(UInt64(truncatingIfNeeded: pinned ?? -1)) { $0.mixed &+ UInt64($1) }.mixed
    }

    private func home(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash >> 20) & (buckets.count - 1) }

    private func home(of row: Int) -> Int { home(LineupTable.hash(topicIndices(of: row), pinned(of: row))) }

    private mutating func place(_ row: Int) {
        var bucket = home(of: row)
        while buckets[bucket] != 0 { bucket = (bucket + 1) & (buckets.count - 1) }
        buckets[bucket] = UInt32(row) + 1
    }

    private mutating func rehash(_ size: Int) {
        buckets = Array(repeating: 0, count: size)
        for row in rows.indices where rows[row].count > 0 { place(row) }
    }

    /// What was pushed on by it moves back, as in `SlotTable`.
    private mutating func unplace(_ row: Int) {
        let mask = buckets.count - 1
        var hole = home(of: row)
        while Int(buckets[hole]) != row + 1 { hole = (hole + 1) & mask }
        var next = (hole + 1) & mask
        while buckets[next] != 0 {
            let distance = (next - home(of: Int(buckets[next]) - 1)) & mask
            if distance >= (next - hole) & mask {
                buckets[hole] = buckets[next]
                hole = next
            }
            next = (next + 1) & mask
        }
        buckets[hole] = 0
    }

    // MARK: Checks

    /// All rows that are lineups.
    var all: [Int] { rows.indices.filter { rows[$0].count > 0 } }

    /// Topics whose lineups have news, and no turn.
    var stranded: Int { topics.count { $0.map { $0.hasWork && $0.lane.current == nil } ?? false } }

    /// What does not hold, or `nil`.
    func violation() -> String? {
        let all = all
        guard all.count == count, rows.count == count + freeRows.count else {
            return "\(count) lineups are counted, there are \(all.count)"
        }
        var listed = 0
        for row in all {
            let choice = Lineup.Choice(topics: Array(topicIndices(of: row)), pinned: pinned(of: row))
            guard find(choice) == row else { return "lineup \(row) is not found by its choice" }
            for link in links(of: row) {
                guard let lineups = topics[Int(topicOfLink[link])], Int(places[link]) < lineups.order.count,
                    lineups.order.members[Int(places[link])].index == link, Int(rowOfLink[link]) == row
                else { return "lineup \(row) is not listed by topic \(topicOfLink[link])" }
                listed += 1
            }
            guard links(of: row).count(where: { isLit[$0] }) <= 1 else { return "lineup \(row) has two spotlights" }
            if hasNews(row) {
                let isReached = links(of: row).contains {
                    guard let lineups = topics[Int(topicOfLink[$0])], lineups.newest > rows[row].looked else {
                        return false
                    }
                    return lineups.reaches(Int(places[$0]))
                }
                guard isReached else { return "lineup \(row) has news, and no cursor comes to it" }
            }
        }
        guard listed == topics.reduce(0, { $0 + ($1?.order.count ?? 0) }) else {
            return "topics list lineups that are no more"
        }
        guard openNews == topics.reduce(0, { $0 + ($1?.news.count ?? 0) }) else {
            return "\(openNews) news are counted that lineups have not looked at"
        }
        for topic in topics.compactMap(\.self) {
            if let violation = topic.violation() { return violation }
        }
        return nil
    }
}
