import FanfareModel

/// The lineups of a shard: the topics of each, and the last news that it has looked at.
///
/// A lineup is a row with one link per topic, in columns of small numbers. Activities with the same topics in the same order and the same
/// favourite share one lineup.
struct LineupTable {
    private struct Row {
        /// Index of the first link; the others follow.
        var start: UInt32 = 0
        var count: UInt8 = 0
        /// Index of the favourite in the lineup's topics.
        var pinned = Row.none
        /// Number of the last news that the lineup has looked at.
        var looked = NewsNumber()
        /// Index of the audience of the lineup's members.
        var audience: UInt32 = 0
        /// Number of the last news before the lineup was added.
        var born = NewsNumber()

        static let none = UInt8.max
    }

    /// The state of a lineup at rest: its only member has the newest version, and nothing is pending.
    private struct Rest {
        var member = ActivitySlot(.max)
        /// Number of the newest version, which the properties below describe.
        var number: UInt32 = 0
        var display: UInt64 = 0
        var publishedAt = Rest.never
        var rotation: Rotation.Resting?
        var wakeUp: TimingWheel.Entry?
        /// Number of topics shown.
        var shown: UInt8 = 0
        /// Index of the spotlight among the topics shown.
        var spotlight: UInt8 = 0
        /// Index of the spotlight among the lineup's topics; 255 means none.
        var spotlightPosition = UInt8.max
        var priority = Priority.conserving
        /// Low bits of the number of alerts, by class (`AlertHistory.resting`).
        var alertCounts = SIMD2<UInt8>()

        static let never = Int64.min
    }

    /// The links of all lineups, in columns indexed by link.
    private struct Links {
        var rows: [UInt32] = []
        var topics: [UInt32] = []
        /// Place of the link in its topic's order.
        var places: [UInt32] = []
        /// Is `true` for the link of the topic that the lineup's newest version has in its spotlight.
        var isInSpotlight: [Bool] = []
        /// The topics that a lineup at rest shows, in order from its first link on.
        var shown: [LineupTopic?] = []
        /// First links of removed lineups, by number of topics.
        var free: [[UInt32]] = Array(repeating: [], count: Lineup.topicsMax + 1)
    }

    private var rows: [Row] = []
    private var freeRows: [Int] = []
    /// States of lineups at rest, by row.
    private var rests: [Rest] = []
    /// Row by index of the audience.
    private var rowOfAudience: [UInt32] = []
    /// Objects for the audiences of lineups that wake up, left by lineups that rest.
    private var spare: [Audience] = []
    private static let spareMax = 4096
    private var links = Links()
    /// Lineups by topic.
    private var topics: [TopicLineups?] = []
    /// Hash table of the choices by open addressing; a bucket has the row's index plus 1.
    private var buckets: [UInt32] = Array(repeating: 0, count: 16)

    private(set) var count = 0
    /// Number of the last news.
    private var newest = NewsNumber()
    /// Number of news that some lineup has not looked at.
    private(set) var openNews = 0
    /// News for the lineup of the last `take`, in order of arrival, with the position of their topic in the lineup. The array is kept, so
    /// that a look allocates nothing.
    private(set) var taken: [(position: Int, news: TopicLineups.News)] = []
    /// Alerts of `taken` that are new to the lineup, the oldest first. The array is kept, so that a look allocates nothing.
    var unheard: [IssuedAlert] = []
    /// Serials of publications that no lineup has to look at after the last `take`.
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

    /// Adds a lineup, whose choice must not be in the table. It counts as having looked at all news so far.
    mutating func insert(_ choice: Lineup.Choice, audience: Int) -> Int {
        var row = Row(count: UInt8(choice.topics.count), looked: newest, audience: UInt32(audience), born: newest)
        row.pinned = choice.pinned.map(UInt8.init) ?? Row.none
        row.start = links.free[choice.topics.count].popLast() ?? addLinks(choice.topics.count)
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
            links.rows[link] = UInt32(index)
            links.topics[link] = UInt32(topic)
            links.isInSpotlight[link] = false
            while topics.count <= topic { topics.append(nil) }
            let lineups = topics[topic] ?? TopicLineups(newest: newest)
            topics[topic] = lineups
            lineups.order.joinVisited(LineupLink(rawValue: UInt32(link)), positions: &links.places)
        }
        count += 1
        if count * 4 > buckets.count * 3 { rehash(buckets.count * 2) } else { place(index) }
        return index
    }

    private mutating func addLinks(_ count: Int) -> UInt32 {
        let start = links.rows.count
        links.rows.append(contentsOf: repeatElement(0, count: count))
        links.topics.append(contentsOf: repeatElement(0, count: count))
        links.places.append(contentsOf: repeatElement(0, count: count))
        links.isInSpotlight.append(contentsOf: repeatElement(false, count: count))
        links.shown.append(contentsOf: repeatElement(nil, count: count))
        return UInt32(start)
    }

    /// Removes a lineup, which must have looked at all news and not be at rest.
    mutating func remove(_ row: Int) {
        unplace(row)
        for link in links(of: row) {
            let topic = Int(links.topics[link])
            guard let lineups = topics[topic] else { continue }
            lineups.order.leave(at: Int(links.places[link]), positions: &links.places)
            // If this lineup was the last one before the cursor, the first of its two rounds is over.
            if lineups.order.count == 0 { topics[topic] = nil } else { lineups.visited(0) }
        }
        for link in links(of: row) { links.shown[link] = nil }
        links.free[Int(rows[row].count)].append(rows[row].start)
        rows[row] = Row()
        freeRows.append(row)
        count -= 1
    }

    func links(of row: Int) -> Range<Int> { Int(rows[row].start)..<Int(rows[row].start) + Int(rows[row].count) }

    func topicIndices(of row: Int) -> some Collection<Int> { links.topics[links(of: row)].lazy.map { Int($0) } }

    func pinned(of row: Int) -> Int? { rows[row].pinned == Row.none ? nil : Int(rows[row].pinned) }

    func audience(of row: Int) -> Int { Int(rows[row].audience) }

    func row(ofAudience index: Int) -> Int { Int(rowOfAudience[index]) }

    func row(of link: LineupLink) -> Int { Int(links.rows[link.index]) }

    func isInSpotlight(_ link: LineupLink) -> Bool { links.isInSpotlight[link.index] }

    /// Notes the topic that the lineup's newest version has in the spotlight.
    ///
    /// - Parameter position: index into the lineup's topics.
    mutating func setSpotlight(_ position: Int, of row: Int) {
        for link in links(of: row) where links.isInSpotlight[link] { links.isInSpotlight[link] = false }
        links.isInSpotlight[Int(rows[row].start) + position] = true
    }

    // MARK: Rest

    func isResting(_ row: Int) -> Bool { rests[row].rotation != nil }

    /// Returns the only member of the lineup at its present or last rest.
    func member(of row: Int) -> ActivitySlot { rests[row].member }
    func wakeUp(of row: Int) -> TimingWheel.Entry? { rests[row].wakeUp }
    func number(of row: Int) -> UInt32 { rests[row].number }

    /// Puts a lineup to rest, and keeps its audience's object for another lineup.
    mutating func rest(_ row: Int, _ audience: Audience, _ lineup: Lineup) {
        let start = Int(rows[row].start)
        let display = lineup.display
        for (index, link) in links(of: row).enumerated() {
            let topic = index < display.topics.count ? display.topics[index] : nil
            if links.shown[link] !== topic { links.shown[start + index] = topic }
        }
        rests[row] = Rest(
            member: audience.order.members[0], number: audience.target, display: audience.ledger.newestDisplay,
            publishedAt: lineup.publishedAt ?? Rest.never, rotation: lineup.rotation.resting, wakeUp: lineup.wakeUp,
            shown: UInt8(display.topics.count), spotlight: UInt8(display.spotlight),
            spotlightPosition: lineup.publishedSpotlight.map(UInt8.init) ?? .max, priority: audience.priority,
            alertCounts: audience.alerts.resting)
        if spare.count < LineupTable.spareMax { spare.append(audience) }
    }

    /// Ends the rest of a lineup.
    ///
    /// - Returns: an audience with the lineup's state.
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
        for link in links(of: row) { audience.topics.append(Int(links.topics[link])) }
        lineup.row = row
        lineup.tenant += 1
        lineup.rotation = Rotation(rotation, rules, pinned: pinned(of: row))
        lineup.publishedSpotlight = rest.spotlightPosition == .max ? nil : Int(rest.spotlightPosition)
        lineup.publishedAt = rest.publishedAt == Rest.never ? nil : rest.publishedAt
        lineup.wakeUp = rest.wakeUp
        lineup.historyIsShort = true
        let start = Int(rows[row].start)
        lineup.display.topics.removeAll(keepingCapacity: true)
        for index in 0..<Int(rest.shown) {
            if let topic = links.shown[start + index] { lineup.display.topics.append(topic) }
        }
        lineup.display.spotlight = Int(rest.spotlight)
        let version =
            rest.shown == 0
            ? nil
            : Audience.Version(
                event: .update, priority: rest.priority, latest: lineup.display.topics[Int(rest.spotlight)].publication,
                display: rest.display)
        audience.rest(rest.member, at: rest.number, version, priority: rest.priority, alertCounts: rest.alertCounts)
        return audience
    }

    // MARK: Alerts

    /// Returns whether the lineup had an alert with the same cause and text before this one: one fact may be in two topics of a lineup. Facts
    /// of different topics may share an id, but then their texts differ. A topic that begins again may repeat an alert of its earlier turn.
    func hasHeard(_ alert: IssuedAlert, _ row: Int) -> Bool {
        links(of: row).contains { link in
            topics[Int(links.topics[link])]?.alerts.contains {
                $0.words == alert.words && $0.topic != alert.topic && $0.news > rows[row].born && $0.news < alert.news
                    && $0.saysTheSame(as: alert)
            } == true
        }
    }

    /// Returns the alerts that the lineup has looked at, the oldest first.
    func alertsHeard(_ row: Int) -> [IssuedAlert] {
        links(of: row).flatMap { topics[Int(links.topics[$0])]?.alerts ?? [] }
            .filter { $0.news > rows[row].born && $0.news <= rows[row].looked && !hasHeard($0, row) }
            .sorted { $0.news < $1.news }
    }

    // MARK: News

    /// The lineups that show a topic; `nil` where none does.
    subscript(topic: Int) -> TopicLineups? { topic < topics.count ? topics[topic] : nil }

    /// Adds a publication of a topic to the news of its lineups. O(1).
    ///
    /// - Returns: news that were dropped for lack of room.
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
        return links(of: row).contains { topics[Int(links.topics[$0])].map { $0.newest > looked } ?? false }
    }

    /// Moves all news of the lineup's topics that it has not looked at to `taken`, where they stay until the next call.
    mutating func take(_ row: Int) {
        taken.removeAll(keepingCapacity: true)
        exhausted.removeAll(keepingCapacity: true)
        let looked = rows[row].looked
        guard looked != newest else { return }
        rows[row].looked = newest
        for (position, link) in links(of: row).enumerated() {
            guard let lineups = topics[Int(links.topics[link])], lineups.newest > looked else { continue }
            lineups.take(after: looked) {
                taken.append((position, $0))
            } exhaust: {
                exhausted.append($0.publication.serial)
                openNews -= 1
            }
        }
        if taken.count > 1 { taken.sort { $0.news.number < $1.news.number } }
    }

    /// Returns the topics that have news which their lineups have not looked at.
    func unvisited() -> Unvisited {
        Unvisited(topics: topics.compactMap { $0?.news.isEmpty == false ? $0 : nil }, newest: newest)
    }

    struct Unvisited {
        fileprivate var topics: [TopicLineups]
        fileprivate let newest: NewsNumber

        /// Returns whether all those news have been looked at. A call examines only topics whose news were looked at since the last call, and one.
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

    /// Removes a row from the hash table. Rows that it displaced move back, as in `SlotTable`.
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

    /// The rows in use.
    var all: [Int] { rows.indices.filter { rows[$0].count > 0 } }

    /// Number of topics whose lineups have news but no lane.
    var stranded: Int { topics.count { $0.map { $0.hasWork && $0.lane.current == nil } ?? false } }

    /// Describes a violated invariant; `nil` if there is none.
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
                guard let lineups = topics[Int(links.topics[link])], Int(links.places[link]) < lineups.order.count,
                    lineups.order.members[Int(links.places[link])].index == link, Int(links.rows[link]) == row
                else { return "lineup \(row) is not listed by topic \(links.topics[link])" }
                listed += 1
            }
            guard links(of: row).count(where: { links.isInSpotlight[$0] }) <= 1 else {
                return "lineup \(row) has two spotlights"
            }
            if hasNews(row) {
                let isReached = links(of: row).contains {
                    guard let lineups = topics[Int(links.topics[$0])], lineups.newest > rows[row].looked else {
                        return false
                    }
                    return lineups.reaches(Int(links.places[$0]))
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
