import FanfareModel
import FanfareQueues

/// The lineups of a shard: the topics of each, and the last news that it has looked at.
///
/// A lineup is a row with one link per topic, in columns of small numbers. Activities with the same topics in the same order and the same
/// favourite share one lineup. Confined to its shard's thread.
///
/// The table is an object: each call on a struct of many columns in another object would copy the struct, and count a reference for each column.
final class LineupTable {
    private struct Row {
        /// Index of the first link; the others follow.
        var start: UInt32 = 0
        var count: UInt8 = 0
        /// Index of the favourite in the lineup's topics.
        var pinned = Row.none
        /// Number of the last news that the lineup has looked at.
        var looked = NewsNumber()
        /// Index of the audience of the lineup's members.
        var audience = AudienceIndex.none
        /// Number of the last news before the lineup was added.
        var born = NewsNumber()

        static let none = UInt8.max
    }

    /// Properties of a lineup of one member: the state that an audience has otherwise.
    struct Lone {
        var member = ActivitySlot(.max)
        /// Number of the newest version, and the hash of its content. The member has it, or it is in flight.
        var number: UInt32 = 0
        var displayHash: UInt64 = 0
        /// Hash of the content of the member's version, which is not the newest while that is in flight.
        var displayHashBefore: UInt64 = 0
        /// `Lineup.publishedAt`.
        var publishedAt = MonotonicTime.always
        var rotation: RestingRotation?
        var wakeUp: ShardTimers.Entry?
        /// Number of the last news in the push in flight.
        var sent = NewsNumber()
        /// Index of the spotlight among the lineup's topics; 255 means none.
        var spotlight = UInt8.max
        /// Lane in which the lineup is visited when its wake-up is due: that of rotations, unless news wait.
        var lane: UInt8 = 2
        var flags: Flags = []
        var priority = Priority.conserving
        /// Low bits of the number of alerts, by class (`AlertHistory.resting`).
        var alertCounts = SIMD2<UInt8>()

        struct Flags: OptionSet {
            let rawValue: UInt8
            /// The newest version is in flight.
            static let inFlight = Flags(rawValue: 1)
            /// A visit found a push in flight: the next visit is due when that push is answered.
            static let wasPassed = Flags(rawValue: 2)
            /// The lineup has an entry in `DueLineups`.
            static let isDue = Flags(rawValue: 4)
            /// The wake-up ends the wait of news for the minimum interval.
            static let isDeferred = Flags(rawValue: 8)
            /// The wake-up ends the wait of news for others.
            static let isGathering = Flags(rawValue: 16)
            /// The alerts of its next push wait for a claim.
            static let awaitsClaim = Flags(rawValue: 32)
            /// Flags after which the lineup looks at its news without a cursor.
            static let awaitingVisit: Flags = [.isDue, .wasPassed, .isDeferred, .isGathering, .awaitsClaim]
        }
    }

    /// The links of all lineups, in columns indexed by link.
    private struct Links {
        var rows: [UInt32] = []
        var topics: [TopicIndex] = []
        /// Place of the link in its topic's order.
        var places: [UInt32] = []
        /// Is `true` for the link of the topic that the lineup's newest version has in its spotlight.
        var isInSpotlight: [Bool] = []
        /// First links of removed lineups, by number of topics.
        var free: [[UInt32]] = Array(repeating: [], count: AudienceKey.topicsMax + 1)
    }

    @safe @exclusivity(unchecked) private var rows: [Row] = []
    @safe @exclusivity(unchecked) private var freeRows: [Int] = []
    /// States of lineups of one member, by row.
    @safe @exclusivity(unchecked) private var lone: [Lone] = []
    /// Row by index of the audience of a lineup of one member whose state is in the row; `noRow` for other audiences.
    @safe @exclusivity(unchecked) private var rowOfAudience: [UInt32] = []
    private static let noRow = UInt32.max
    @safe @exclusivity(unchecked) private var links = Links()
    /// Lineups by topic.
    @safe @exclusivity(unchecked) private var topics: [TopicLineups?] = []
    /// Topics that may have news, each once; `countLookers` removes topics without news.
    @safe @exclusivity(unchecked) private var topicsWithNews: [TopicIndex] = []
    /// Number of the last news by topic: copies, which a visit reads without counting a reference.
    @safe @exclusivity(unchecked) private var newestOfTopics: [NewsNumber] = []
    /// Hash table of the selections by open addressing; a bucket has the row's index plus 1.
    @safe @exclusivity(unchecked) private var buckets: [UInt32] = Array(repeating: 0, count: 16)

    @safe @exclusivity(unchecked) private(set) var count = 0
    @safe @exclusivity(unchecked) private var book = NewsBook()
    /// News for the lineup of the last `take`, in order of arrival, with their topics' positions. The array is kept, so that a look allocates
    /// nothing.
    @safe @exclusivity(unchecked) private(set) var taken: [(position: Int, news: TopicLineups.News)] = []
    /// Alerts of `taken` that are new to the lineup, the oldest first. The array is kept, so that a look allocates nothing.
    @safe @exclusivity(unchecked) var newAlerts: [IssuedAlert] = []
    /// Serials of publications that no lineup has to look at after the last `take`.
    @safe @exclusivity(unchecked) private(set) var exhausted: [UInt64] = []

    /// Number of the last news.
    var newest: NewsNumber { book.newest }
    /// Number of news that some lineup has not looked at.
    var newsCount: Int { book.count }

    // MARK: Lineups

    func find(_ selection: LineupSelection) -> Int? {
        var bucket = home(LineupTable.hash(selection.topics, selection.pinned))
        while buckets[bucket] != 0 {
            let row = Int(buckets[bucket]) - 1
            if isSelection(row, selection) { return row }
            bucket = (bucket + 1) & (buckets.count - 1)
        }
        return nil
    }

    private func isSelection(_ row: Int, _ selection: LineupSelection) -> Bool {
        pinned(of: row) == selection.pinned && Int(rows[row].count) == selection.topics.count
            && topicIndices(of: row).elementsEqual(selection.topics)
    }

    /// Adds a lineup, whose selection must not be in the table. It counts as having looked at all news so far.
    func insert(_ selection: LineupSelection, audience: AudienceIndex) -> Int {
        var row = Row(count: UInt8(selection.topics.count), looked: newest, audience: audience, born: newest)
        row.pinned = selection.pinned.map(UInt8.init) ?? Row.none
        row.start = links.free[selection.topics.count].popLast() ?? addLinks(selection.topics.count)
        let index: Int
        if let reused = freeRows.popLast() {
            index = reused
            rows[index] = row
            lone[index] = Lone()
        } else {
            index = rows.count
            rows.append(row)
            lone.append(Lone())
        }
        for (position, topic) in selection.topics.enumerated() {
            let link = Int(row.start) + position
            links.rows[link] = UInt32(index)
            links.topics[link] = topic
            links.isInSpotlight[link] = false
            while topics.count <= topic.place {
                topics.append(nil)
                newestOfTopics.append(newest)
            }
            let lineups = self[topic] ?? TopicLineups(newest: newest)
            if self[topic] == nil { newestOfTopics[topic.place] = newest }
            topics[topic.place] = lineups
            lineups.order.joinVisited(LineupLink(rawValue: UInt32(link)), positions: &links.places)
        }
        count += 1
        if count * 4 > buckets.count * 3 { rehash(buckets.count * 2) } else { place(index) }
        return index
    }

    /// Lets chance choose the next of a topic's lineups.
    func drawNext(of lineups: TopicLineups, by random: UInt64) {
        lineups.order.drawNext(among: lineups.unreachedInLane, by: random, positions: &links.places)
    }

    private func addLinks(_ count: Int) -> UInt32 {
        let start = links.rows.count
        links.rows.append(contentsOf: repeatElement(0, count: count))
        links.topics.append(contentsOf: repeatElement(.none, count: count))
        links.places.append(contentsOf: repeatElement(0, count: count))
        links.isInSpotlight.append(contentsOf: repeatElement(false, count: count))
        return UInt32(start)
    }

    /// Removes a lineup, which must have looked at all news and not be at rest.
    func remove(_ row: Int) {
        unplace(row)
        for link in links(of: row) {
            let topic = links.topics[link]
            guard let lineups = self[topic] else { continue }
            lineups.order.leave(at: Int(links.places[link]), positions: &links.places)
            // If this lineup was the last one before the cursor, the first of its two passes is over.
            if lineups.order.count == 0 { removeTopic(topic) } else { lineups.visited(0) }
        }
        links.free[Int(rows[row].count)].append(rows[row].start)
        rows[row] = Row()
        freeRows.append(row)
        count -= 1
    }

    /// Removes a topic that no lineup shows any more.
    private func removeTopic(_ topic: TopicIndex) {
        for alert in self[topic]?.alerts ?? [] { book.remove(alert) }
        topics[topic.place] = nil
    }

    @inline(__always)
    func links(of row: Int) -> Range<Int> { Int(rows[row].start)..<Int(rows[row].start) + Int(rows[row].count) }

    func topicIndices(of row: Int) -> some Collection<TopicIndex> { links.topics[links(of: row)] }

    func pinned(of row: Int) -> Int? { rows[row].pinned == Row.none ? nil : Int(rows[row].pinned) }

    func audience(of row: Int) -> AudienceIndex { rows[row].audience }

    /// Returns the row of the audience's lineup if that has one member and its state in the row; otherwise `nil`.
    @inline(__always)
    func loneRow(ofAudience index: AudienceIndex) -> Int? {
        guard index.place < rowOfAudience.count, rowOfAudience[index.place] != LineupTable.noRow else { return nil }
        return Int(rowOfAudience[index.place])
    }

    func topic(ofLink link: Int) -> TopicIndex { links.topics[link] }

    func row(of link: LineupLink) -> Int { Int(links.rows[link.index]) }

    func isInSpotlight(_ link: LineupLink) -> Bool { links.isInSpotlight[link.index] }

    /// Notes the topic that the lineup's newest version has in the spotlight.
    ///
    /// - Parameter position: index into the lineup's topics.
    func setSpotlight(_ position: Int, of row: Int) {
        for link in links(of: row) where links.isInSpotlight[link] { links.isInSpotlight[link] = false }
        links.isInSpotlight[Int(rows[row].start) + position] = true
    }

    // MARK: Lineups of one member

    /// The lineup's state, while it is in the row.
    subscript(lone row: Int) -> Lone {
        @inline(__always) _read { yield lone[row] }
        @inline(__always) _modify { yield &lone[row] }
    }

    /// Changes the lineup's state with one look-up.
    @inline(__always)
    func change(lone row: Int, _ body: (inout Lone) -> Void) { body(&lone[row]) }

    /// Is `true` while the row has the whole state of the lineup, which then has no audience object.
    func isLone(_ row: Int) -> Bool { lone[row].rotation != nil }

    /// Is `true` while the lineup's only member has the newest version, and no push is in flight.
    func isResting(_ row: Int) -> Bool { isLone(row) && !lone[row].flags.contains(.inFlight) }

    /// Takes the state of a lineup whose audience rests from now on.
    func rest(_ state: RestingLineup) {
        lone[state.row] = Lone(
            member: state.member, number: state.number, displayHash: state.displayHash,
            displayHashBefore: state.displayHash, publishedAt: state.publishedAt, rotation: state.rotation,
            wakeUp: state.wakeUp, spotlight: state.spotlight.map(UInt8.init) ?? .max, priority: state.priority,
            alertCounts: state.alertCounts)
        let place = rows[state.row].audience.place
        while rowOfAudience.count <= place { rowOfAudience.append(LineupTable.noRow) }
        rowOfAudience[place] = UInt32(state.row)
    }

    /// Gives back the state of a lineup whose audience wakes. The caller adds the push in flight, if there is one.
    func wake(_ row: Int) -> RestingLineup {
        guard let rotation = lone[row].rotation.take() else {
            preconditionFailure("a lineup wakes that is awake")
        }
        let state = lone[row]
        rowOfAudience[rows[row].audience.place] = LineupTable.noRow
        return RestingLineup(
            row: row, pinned: pinned(of: row), member: state.member, number: state.number,
            displayHash: state.displayHash, priority: state.priority, publishedAt: state.publishedAt,
            rotation: rotation, spotlight: state.spotlight == .max ? nil : Int(state.spotlight), wakeUp: state.wakeUp,
            alertCounts: state.alertCounts)
    }

    func isDue(_ row: Int, lane number: Int) -> Bool {
        lone[row].flags.contains(.isDue) && Int(lone[row].lane) == number
    }

    /// Removes the lineup's entry in `DueLineups`, whose remains there mean nothing from now on.
    ///
    /// - Returns: the lane of the entry; `nil` if there was none.
    func takeDue(_ row: Int) -> Int? {
        guard lone[row].flags.contains(.isDue) else { return nil }
        lone[row].flags.remove(.isDue)
        return Int(lone[row].lane)
    }

    // MARK: Alerts

    /// Returns whether the lineup had an alert with the same cause and text before this one: one fact may be in two topics of a lineup. Facts
    /// of different topics may share a provider's id, but then their texts differ. A topic that begins again may repeat an alert of its earlier
    /// tenure.
    @inline(__always)
    func isRepeat(_ alert: IssuedAlert, _ row: Int) -> Bool {
        alert.mayBeRepeated && isRepeatOfAnotherTopic(alert, row)
    }

    // Out of line, because a closure here would make each caller copy the table.
    @inline(never)
    private func isRepeatOfAnotherTopic(_ alert: IssuedAlert, _ row: Int) -> Bool {
        for link in links(of: row) {
            for other in self[links.topics[link]]?.alerts ?? []
            where other.contentHash == alert.contentHash && other.topic != alert.topic && other.news > rows[row].born
                && other.news < alert.news && other.hasSameContent(as: alert)
            {
                return true
            }
        }
        return false
    }

    /// Skips one number of news, so that lineups made from here on are born after those that exist.
    ///
    /// - Returns: the newest news of the lineups that exist.
    func endBirths() -> NewsNumber {
        defer { book.newest.advance() }
        return newest
    }

    /// Newest news when the lineup was made.
    func born(_ row: Int) -> NewsNumber { rows[row].born }

    /// Returns the alerts that the lineup has looked at, the oldest first.
    func alertsTaken(_ row: Int) -> [IssuedAlert] {
        links(of: row).flatMap { self[links.topics[$0]]?.alerts ?? [] }
            .filter { $0.news > rows[row].born && $0.news <= rows[row].looked && !isRepeat($0, row) }
            .sorted { $0.news < $1.news }
    }

    // MARK: News

    /// The lineups that show a topic; `nil` if no lineup does.
    subscript(topic: TopicIndex) -> TopicLineups? { topic.place < topics.count ? topics[topic.place] : nil }

    /// Adds a publication of a topic to the news of its lineups. O(1).
    ///
    /// - Returns: news that were dropped for lack of room.
    func publish(
        _ publication: Publication, of topic: TopicIndex, to lineups: TopicLineups, alert: IssuedAlert?,
        at now: MonotonicTime
    ) -> TopicLineups.News? {
        book.newest.advance()
        newestOfTopics[topic.place] = newest
        book.count += 1
        alert?.news = newest
        if let alert {
            alert.mayBeRepeated = alert.alert.isCauseOfProvider && book.alertCounts[alert.contentHash] != nil
            book.alertCounts[alert.contentHash, default: 0] += 1
        }
        if !lineups.isListed {
            lineups.isListed = true
            topicsWithNews.append(topic)
        }
        let dropped = lineups.append(publication, alert: alert, number: newest, at: now) { book.remove($0) }
        if dropped != nil { book.count -= 1 }
        return dropped
    }

    /// Number of lineups that lack news, counted once per topic: an upper bound. Its cost is in topics with news since the last call.
    func countLookers() -> Int {
        var sum = 0
        topicsWithNews.removeAll { topic in
            guard let lineups = topics[topic.place] else { return true }
            let lookers = lineups.lookers
            sum += lookers
            lineups.isListed = lookers > 0
            return lookers == 0
        }
        return sum
    }

    func hasNews(_ row: Int) -> Bool { hasNews(row, after: rows[row].looked) }

    func hasNews(_ row: Int, after last: NewsNumber) -> Bool {
        guard last != newest else { return false }
        for link in links(of: row) where newestOfTopics[links.topics[link].place] > last { return true }
        return false
    }

    /// Appends the facts of all news of the lineup's topics that it has not looked at, in order of arrival.
    func collect(_ row: Int, into facts: inout [(position: Int, fact: TopicLineups.Fact)]) {
        if !facts.isEmpty { facts.removeAll(keepingCapacity: true) }
        let looked = rows[row].looked
        let links = links(of: row)
        for link in links where newestOfTopics[topic(ofLink: link).place] > looked {
            self[topic(ofLink: link)]?.forEachFact(after: looked) { facts.append((link - links.lowerBound, $0)) }
        }
        if facts.count > 1 { facts.sort { $0.fact.number < $1.fact.number } }
    }

    /// Moves the news of the lineup's topics that it has not looked at to `taken`, where they stay until the next call.
    ///
    /// - Parameter last: number of the last news to look at; `nil` for all.
    func take(_ row: Int, through last: NewsNumber? = nil) {
        taken.removeAll(keepingCapacity: true)
        if !exhausted.isEmpty { exhausted.removeAll(keepingCapacity: true) }
        let looked = rows[row].looked
        let last = last ?? newest
        guard looked != last else { return }
        rows[row].looked = last
        for (position, link) in links(of: row).enumerated() {
            let place = links.topics[link].place
            guard newestOfTopics[place] > looked, let lineups = topics[place] else { continue }
            lineups.take(after: looked, through: last) {
                taken.append((position, $0))
            } exhaust: {
                exhausted.append($0.publication.serial)
                book.count -= 1
            }
        }
        if taken.count > 1 { taken.sort { $0.news.number < $1.news.number } }
    }

    /// Notes that the lineup has looked at all news up to a number, as `take` does, and forgets them.
    ///
    /// - Returns: their alerts.
    func settle(_ row: Int, through last: NewsNumber) -> SettledAlerts {
        var alerts = SettledAlerts.none
        if !exhausted.isEmpty { exhausted.removeAll(keepingCapacity: true) }
        let looked = rows[row].looked
        guard looked != last else { return alerts }
        rows[row].looked = last
        for link in links(of: row) {
            let place = links.topics[link].place
            guard newestOfTopics[place] > looked, let lineups = topics[place] else { continue }
            lineups.settle(after: looked, through: last) {
                switch alerts {
                case .none: alerts = .one($0)
                case .one(let first): alerts = .many([first, $0])
                case .many(let others): alerts = .many(others + [$0])
                }
            } exhaust: {
                exhausted.append($0.publication.serial)
                book.count -= 1
            }
        }
        guard case .many(let many) = alerts else { return alerts }
        return .many(many.sorted { $0.news < $1.news })
    }

    /// Alerts of news, the oldest first.
    enum SettledAlerts {
        case none
        case one(IssuedAlert)
        case many([IssuedAlert])
    }

    /// Returns the alert of news, by the position of their topic in the lineup.
    func alert(_ fact: TopicLineups.Fact, _ row: Int, position: Int) -> IssuedAlert? {
        topics[links.topics[Int(rows[row].start) + position].place]?.alert(of: fact.number)
    }

    /// Returns the topics that have news which their lineups have not looked at.
    func unvisited() -> UnvisitedNews {
        UnvisitedNews(
            topics: topics.enumerated().compactMap { place, lineups in
                lineups?.news.isEmpty == false ? TopicIndex(place) : nil
            }, newest: newest)
    }

    /// Returns whether a topic has news up to that number which some of its lineups have not looked at.
    func hasUnvisitedNews(of topic: TopicIndex, through last: NewsNumber) -> Bool {
        self[topic]?.news.first.map { $0.number <= last } ?? false
    }

    // MARK: Finding a selection

    private static func hash(_ topics: some Collection<TopicIndex>, _ pinned: Int?) -> UInt64 {
        topics.reduce(UInt64(truncatingIfNeeded: pinned ?? -1)) { $0.mixed &+ UInt64($1.place) }.mixed
    }

    private func home(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash >> 20) & (buckets.count - 1) }

    private func home(of row: Int) -> Int { home(LineupTable.hash(topicIndices(of: row), pinned(of: row))) }

    private func place(_ row: Int) {
        var bucket = home(of: row)
        while buckets[bucket] != 0 { bucket = (bucket + 1) & (buckets.count - 1) }
        buckets[bucket] = UInt32(row) + 1
    }

    private func rehash(_ size: Int) {
        buckets = Array(repeating: 0, count: size)
        for row in rows.indices where rows[row].count > 0 { place(row) }
    }

    /// Removes a row from the hash table. Rows that it displaced move back, as in `SlotTable`.
    private func unplace(_ row: Int) {
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

    /// Returns whether a lineup of one member is to be visited without a cursor, for news that it has not looked at.
    private func isVisitDue(_ row: Int) -> Bool {
        guard isLone(row) else { return false }
        let waits = !lone[row].flags.isDisjoint(with: [.isDeferred, .isGathering]) && lone[row].wakeUp != nil
        return waits || !lone[row].flags.isDisjoint(with: [.isDue, .wasPassed, .awaitsClaim])
    }

    /// Describes a violated invariant; `nil` if there is none.
    ///
    /// - Parameter awaitsNews: returns whether the audience of a lineup is to look at news without a cursor.
    func violation(awaitsNews: (Int) -> Bool = { _ in false }) -> String? {
        let all = all
        guard all.count == count, rows.count == count + freeRows.count else {
            return "\(count) lineups are counted, there are \(all.count)"
        }
        var listed = 0
        for row in all {
            let selection = LineupSelection(topics: Array(topicIndices(of: row)), pinned: pinned(of: row))
            guard find(selection) == row else { return "lineup \(row) is not found by its selection" }
            for link in links(of: row) {
                guard let lineups = topics[links.topics[link].place], Int(links.places[link]) < lineups.order.count,
                    lineups.order.members[Int(links.places[link])].index == link, Int(links.rows[link]) == row
                else { return "lineup \(row) is not listed by topic \(links.topics[link])" }
                listed += 1
            }
            guard links(of: row).count(where: { links.isInSpotlight[$0] }) <= 1 else {
                return "lineup \(row) has two spotlights"
            }
            if hasNews(row), !isVisitDue(row), !awaitsNews(row) {
                let looked = isLone(row) && lone[row].flags.contains(.inFlight) ? lone[row].sent : rows[row].looked
                let news = links(of: row).filter { newestOfTopics[links.topics[$0].place] > looked }
                let isReached =
                    news.isEmpty
                    || news.contains {
                        guard let lineups = topics[links.topics[$0].place] else { return false }
                        return lineups.reaches(Int(links.places[$0]))
                    }
                guard isReached else { return "lineup \(row) has news, and no cursor comes to it" }
            }
        }
        guard listed == topics.reduce(0, { $0 + ($1?.order.count ?? 0) }) else {
            return "topics list lineups that are no more"
        }
        guard newsCount == topics.reduce(0, { $0 + ($1?.news.count ?? 0) }) else {
            return "\(newsCount) news are counted that lineups have not looked at"
        }
        for (index, topic) in topics.enumerated() {
            guard let topic else { continue }
            guard newestOfTopics[index] == topic.newest else { return "a topic's last news have two numbers" }
            if let violation = topic.violation() { return violation }
        }
        return nil
    }
}
