import FanfareModel
import FanfareQueues

/// The lineups of a shard: the topics of each, and the last news that it has looked at.
///
/// A lineup is a row with one link per topic, in columns of small numbers. Activities with the same topics in the same order and the same
/// favourite share one lineup. Confined to its shard's thread.
///
/// The table is an object: each call on a struct of many columns in another object would copy the struct, and count a reference for each column.
final class LineupTable {
    private struct Row: BitwiseCopyable {
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

    @safe @exclusivity(unchecked) private var rows = GrowingColumn<Row>()
    @safe @exclusivity(unchecked) private var freeRows = SegmentedArray<Int>()
    @safe @exclusivity(unchecked) private var lone = LoneLineups()
    @safe @exclusivity(unchecked) private var links = LineupLinks()
    @safe @exclusivity(unchecked) private var selections = SelectionIndex()
    /// Lineups by topic.
    @safe @exclusivity(unchecked) private var topics: [TopicLineups?] = []
    /// Topics that may have news, each once; `countLookers` removes topics without news.
    @safe @exclusivity(unchecked) private var topicsWithNews: [TopicIndex] = []
    /// Number of the last news by topic: copies, which a visit reads without counting a reference.
    @safe @exclusivity(unchecked) private var newestOfTopics: [NewsNumber] = []
    @safe @exclusivity(unchecked) private var book = NewsBook()
    /// News for the lineup of the last `take`, in order of arrival, with their topics' positions. The array is kept, so that a look allocates
    /// nothing.
    @safe @exclusivity(unchecked) private(set) var taken: [(position: Int, news: TopicLineups.News)] = []
    /// Alerts of `taken` that are new to the lineup, the oldest first. The array is kept, so that a look allocates nothing.
    @safe @exclusivity(unchecked) var newAlerts: [IssuedAlert] = []
    /// Serials of publications that no lineup has to look at after the last `take`.
    @safe @exclusivity(unchecked) private(set) var exhausted: [UInt64] = []

    var count: Int { selections.count }
    /// Number of the last news.
    var newest: NewsNumber { book.newest }
    /// Number of news that some lineup has not looked at.
    var newsCount: Int { book.count }

    // MARK: Lineups

    func find(_ selection: LineupSelection) -> Int? {
        selections.find(SelectionIndex.hash(selection.topics, selection.pinned)) { isSelection($0, selection) }
    }

    private func hash(of row: Int) -> UInt64 { SelectionIndex.hash(topicIndices(of: row), pinned(of: row)) }

    private func isSelection(_ row: Int, _ selection: LineupSelection) -> Bool {
        pinned(of: row) == selection.pinned && Int(rows[row].count) == selection.topics.count
            && topicIndices(of: row).elementsEqual(selection.topics)
    }

    /// Adds a lineup, whose selection must not be in the table. It counts as having looked at all news so far.
    func insert(_ selection: LineupSelection, audience: AudienceIndex) -> Int {
        var row = Row(count: UInt8(selection.topics.count), looked: newest, audience: audience, born: newest)
        row.pinned = selection.pinned.map(UInt8.init) ?? Row.none
        let index = freeRows.popLast() ?? rows.count
        row.start = links.take(selection.topics, row: index)
        if index < rows.count {
            rows[index] = row
            lone.states[index] = LoneLineup()
        } else {
            rows.append(row)
            lone.add()
        }
        for (position, topic) in selection.topics.enumerated() {
            let link = row.start + UInt32(position)
            while topics.count <= topic.place {
                topics.append(nil)
                newestOfTopics.append(newest)
            }
            let lineups = self[topic] ?? TopicLineups(newest: newest)
            if self[topic] == nil { newestOfTopics[topic.place] = newest }
            topics[topic.place] = lineups
            lineups.order.joinVisited(LineupLink(rawValue: link), positions: &links.places)
        }
        selections.insert(index) { hash(of: $0) }
        return index
    }

    /// Lets chance choose the next of a topic's lineups.
    func drawNext(of lineups: TopicLineups, by random: UInt64) {
        lineups.order.drawNext(among: lineups.unreachedInLane, by: random, positions: &links.places)
    }

    /// Removes a lineup, which must have looked at all news and not be at rest.
    func remove(_ row: Int) {
        selections.remove(row) { hash(of: $0) }
        for link in links(of: row) {
            let topic = links.topics[link]
            guard let lineups = self[topic] else { continue }
            lineups.order.leave(at: Int(links.places[link]), positions: &links.places)
            // If this lineup was the last one before the cursor, the first of its two passes is over.
            if lineups.order.count == 0 { removeTopic(topic) } else { lineups.visited(0) }
        }
        links.takeBack(links(of: row))
        rows[row] = Row()
        freeRows.append(row)
    }

    /// Removes a topic that no lineup shows any more.
    private func removeTopic(_ topic: TopicIndex) {
        for alert in self[topic]?.alerts ?? [] { book.remove(alert) }
        topics[topic.place] = nil
    }

    @inline(__always)
    func links(of row: Int) -> Range<Int> { Int(rows[row].start)..<Int(rows[row].start) + Int(rows[row].count) }

    func topicIndices(of row: Int) -> some Collection<TopicIndex> {
        LinkedTopics(topics: links.topics, links: links(of: row))
    }

    func pinned(of row: Int) -> Int? { rows[row].pinned == Row.none ? nil : Int(rows[row].pinned) }

    func audience(of row: Int) -> AudienceIndex { rows[row].audience }

    /// Returns the row of the audience's lineup if that has one member and its state in the row; otherwise `nil`.
    @inline(__always)
    func loneRow(ofAudience index: AudienceIndex) -> Int? {
        guard index.place < lone.rows.count, lone.rows[index.place] != LoneLineups.none else { return nil }
        return Int(lone.rows[index.place])
    }

    func topic(ofLink link: Int) -> TopicIndex { links.topics[link] }

    func row(of link: LineupLink) -> Int { Int(links.rows[link.index]) }

    func isInSpotlight(_ link: LineupLink) -> Bool { links.isInSpotlight[link.index] }

    /// Notes the topic that the lineup's newest version has in the spotlight.
    ///
    /// - Parameter position: index into the lineup's topics.
    func setSpotlight(_ position: Int, of row: Int) {
        links.setSpotlight(position, in: links(of: row))
    }

    // MARK: Lineups of one member

    /// The lineup's state, while it is in the row.
    subscript(lone row: Int) -> LoneLineup {
        @inline(__always) _read { yield lone.states[row] }
        @inline(__always) _modify { yield &lone.states[row] }
    }

    /// Changes the lineup's state with one look-up.
    @inline(__always)
    func change(lone row: Int, _ body: (inout LoneLineup) -> Void) { body(&lone.states[row]) }

    /// Is `true` while the row has the whole state of the lineup, which then has no audience object.
    func isLone(_ row: Int) -> Bool { lone.states[row].rotation != nil }

    /// Is `true` while the lineup's only member has the newest version, and no push is in flight.
    func isResting(_ row: Int) -> Bool { isLone(row) && !lone.states[row].flags.contains(.inFlight) }

    /// Takes the state of a lineup whose audience rests from now on.
    func rest(_ state: RestingLineup) { lone.rest(state, at: rows[state.row].audience) }

    /// Gives back the state of a lineup whose audience wakes. The caller adds the push in flight, if there is one.
    func wake(_ row: Int) -> RestingLineup { lone.wake(row, pinned: pinned(of: row), at: rows[row].audience) }

    func isDue(_ row: Int, lane number: Int) -> Bool {
        lone.states[row].flags.contains(.isDue) && Int(lone.states[row].lane) == number
    }

    /// Removes the lineup's entry in `DueLineups`, whose remains there mean nothing from now on.
    ///
    /// - Returns: the lane of the entry; `nil` if there was none.
    func takeDue(_ row: Int) -> Int? {
        guard lone.states[row].flags.contains(.isDue) else { return nil }
        lone.states[row].flags.remove(.isDue)
        return Int(lone.states[row].lane)
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

    /// The topics that lineups show.
    var shownTopics: [TopicIndex] { topics.indices.filter { topics[$0] != nil }.map { TopicIndex($0) } }

    /// Returns whether a topic has news up to that number which some of its lineups have not looked at.
    func hasUnvisitedNews(of topic: TopicIndex, through last: NewsNumber) -> Bool {
        self[topic]?.news.first.map { $0.number <= last } ?? false
    }

    // MARK: Checks

    /// The rows in use.
    var all: [Int] { rows.indices.filter { rows[$0].count > 0 } }

    /// Number of topics whose lineups have news but no lane.
    var stranded: Int { topics.count { $0.map { $0.hasWork && $0.lane.current == nil } ?? false } }

    /// Returns whether a lineup of one member is to be visited without a cursor, for news that it has not looked at.
    private func isVisitDue(_ row: Int) -> Bool {
        guard isLone(row) else { return false }
        let waits =
            !lone.states[row].flags.isDisjoint(with: [.isDeferred, .isGathering]) && lone.states[row].wakeUp != nil
        return waits || !lone.states[row].flags.isDisjoint(with: [.isDue, .wasPassed, .awaitsClaim])
    }

    /// Describes a violated invariant; `nil` if there is none.
    ///
    /// - Parameter awaitsNews: returns whether the audience of a lineup is to look at news without a cursor.
    func violation(awaitsNews: (Int) -> Bool = { _ in false }) -> String? {
        let all = all
        guard all.count == count, rows.count == count + freeRows.count else {
            return "\(count) lineups are counted, there are \(all.count)"
        }
        let held = all.map { links(of: $0) }
        if let violation = selections.violation() ?? links.violation(held: held) { return violation }
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
                let looked =
                    isLone(row) && lone.states[row].flags.contains(.inFlight) ? lone.states[row].sent : rows[row].looked
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
