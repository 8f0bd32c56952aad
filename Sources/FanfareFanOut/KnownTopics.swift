import FanfareModel

/// The topics that a shard knows, by index: those that the core keeps, because it publishes them, and those of which an audience here is
/// made. A topic that is neither is no more, and another one may have its index.
///
/// An id may be given out again. When another topic comes under it, or somebody follows that, whoever has followed the one before keeps
/// it without a name (`part`): nobody finds it, and nothing more is published of it. Lineups are of ids, and show what comes.
struct KnownTopics {
    struct Topic {
        let id: TopicID
        fileprivate(set) var latest: Publication?
        /// The same as lineups show it; `nil` until one does.
        private(set) var encoded: LineupTopic?
        /// The same as a lineup's rotation sees it, which asks again and again. Where it has ended, before it is dismissed.
        private(set) var seen = Rotation.Topic(.gone)
        /// When a topic that has ended is dismissed, and no lineup shows it any more; monotonic nanoseconds.
        private(set) var goneAt: Int64?
        /// Index of its followers' audience; `nil` while it has none.
        var followers: Int?
        /// How many lineups show it.
        var lineups = 0
        /// The core publishes it no more. What it published last stays for those who look at it.
        fileprivate(set) var isForgotten = false
        /// Its id means another topic.
        fileprivate(set) var isNameless = false
        /// Of the core's topic whose publications it takes (`TopicNumber`); 0: their names say so.
        fileprivate var birth: UInt64 = 0

        /// What was published last was the last of it: whoever follows from now on waits for what comes under its id.
        var isOver: Bool { latest.map { isForgotten || $0.freesID } ?? false }

        fileprivate init(id: TopicID) { self.id = id }

        fileprivate var isNeeded: Bool { latest != nil && !isForgotten || followers != nil || lineups > 0 }

        fileprivate mutating func take(_ publication: Publication, at moment: Moment) {
            latest = publication
            encoded = nil
            isForgotten = false
            let life: Rotation.Topic.Life =
                publication.event == .end ? .ended : publication.prominence.hasBegun ? .live : .waiting
            seen = Rotation.Topic(life, importance: publication.prominence.importance)
            let shown = (publication.dismissAfter ?? Dismissal.longest).milliseconds * 1_000_000
            goneAt = publication.event == .end ? moment.monotonicNanoseconds + shown : nil
        }

        fileprivate mutating func forget() {
            isForgotten = true
            birth = 0
            encoded = nil
        }

        /// Encoded when the first lineup shows it.
        mutating func inLineups() -> LineupTopic? {
            if encoded == nil { encoded = latest.map(LineupTopic.init) }
            return encoded
        }
    }

    private var rows: [Topic] = []
    private var indices: [TopicID: Int] = [:]
    /// By the place of the core's number: where the topic was when the last publication of that place came. A row that takes them still
    /// says so itself, by its birth.
    private var indicesByPlace: [UInt32] = []
    /// Indices that no topic has.
    private var free: [Int] = []
    /// Topics that are followed, and of which nothing has been published.
    private(set) var unheard = 0
    /// As many as the core follows at most, unless it is told otherwise: what is beyond them is never published.
    private let unheardMax: Int

    init(unheardMax: Int) { self.unheardMax = unheardMax }

    var count: Int { indices.count }

    subscript(index: Int) -> Topic {
        _read { yield rows[index] }
        _modify { yield &rows[index] }
    }

    func index(of id: TopicID) -> Int? { indices[id] }

    /// - Returns: whether so many more can be followed of which nothing has been published.
    func hasRoom(for count: Int) -> Bool { unheard + count <= unheardMax }

    /// A topic that is new by this is to be published, or to get an audience, at once.
    mutating func insert(_ id: TopicID) -> Int {
        if let known = indices[id] { return known }
        let index = free.popLast() ?? rows.count
        if index == rows.count { rows.append(Topic(id: id)) } else { rows[index] = Topic(id: id) }
        indices[id] = index
        unheard += 1
        return index
    }

    /// The same for the topic of a publication. Its name is looked up once: a topic that is begun again has another number.
    mutating func insert(topicOf publication: Publication) -> Int {
        let number = publication.topic
        let place = Int(number.place)
        if number.birth > 0, place < indicesByPlace.count {
            let index = Int(indicesByPlace[place])
            if index < rows.count, rows[index].birth == number.birth { return index }
        }
        let index = insert(publication.topicID)
        guard number.birth > 0 else { return index }
        if place >= indicesByPlace.count {
            indicesByPlace.append(contentsOf: repeatElement(0, count: place + 1 - indicesByPlace.count))
        }
        indicesByPlace[place] = UInt32(index)
        rows[index].birth = number.birth
        return index
    }

    mutating func take(_ publication: Publication, of index: Int, at moment: Moment) {
        if rows[index].latest == nil { unheard -= 1 }
        rows[index].take(publication, at: moment)
    }

    /// Whether what was published last of it looks like this.
    func shows(_ publication: Publication, _ index: Int) -> Bool {
        guard let latest = rows[index].latest, latest.state.hash == publication.state.hash else { return false }
        return latest.event == publication.event && latest.state.bytes == publication.state.bytes
    }

    /// The followers of a topic that is over keep it, and its id is free for another one.
    ///
    /// - Returns: its index from now on.
    mutating func part(_ index: Int) -> Int {
        var old = rows[index]
        old.isNameless = true
        old.forget()
        old.lineups = 0
        rows[index].followers = nil
        if let place = free.popLast() {
            rows[place] = old
            return place
        }
        rows.append(old)
        return rows.count - 1
    }

    /// The core publishes it no more.
    mutating func forget(_ id: TopicID) {
        guard let index = indices[id] else { return }
        rows[index].forget()
        release(index)
    }

    /// An audience that the topic had is no more.
    mutating func release(_ index: Int) {
        let topic = rows[index]
        guard !topic.isNeeded, topic.isNameless || indices[topic.id] == index else { return }
        if topic.latest == nil { unheard -= 1 }
        if !topic.isNameless { indices[topic.id] = nil }
        rows[index] = KnownTopics.vacant
        free.append(index)
    }

    private static let vacant = Topic(id: TopicID(""))

    /// What was published last of each topic, in the order of publication.
    var published: [Publication] { indices.values.compactMap { rows[$0].latest }.sorted { $0.serial < $1.serial } }

    // For checks.
    /// Rows for which there is memory.
    var capacity: Int { rows.count }
    var lineupsListed: Int { rows.reduce(0) { $0 + $1.lineups } }
    var followed: Int { rows.count { $0.followers != nil } }

    func violatedInvariant() -> String? {
        let nameless = rows.indices.filter { rows[$0].isNameless }
        guard indices.allSatisfy({ rows[$0.value].id == $0.key && !rows[$0.value].isNameless }),
            indices.count + nameless.count + free.count == rows.count
        else { return "topics are not found by their ids" }
        if let idle = (indices.values + nameless).first(where: { !rows[$0].isNeeded }) {
            return "topic \(rows[idle].id) is kept, and nobody needs it"
        }
        if let stranger = rows.first(where: { $0.birth > 0 && ($0.isNameless || $0.isForgotten || $0.latest == nil) }) {
            return "topic \(stranger.id) takes publications of a topic that is no more"
        }
        let births = rows.lazy.map(\.birth).filter { $0 > 0 }
        guard Set(births).count == births.count else { return "two topics take the publications of one" }
        let unpublished = indices.values.count { rows[$0].latest == nil }
        guard unpublished == unheard else {
            return "\(unheard) topics are counted as never heard of, \(unpublished) are"
        }
        return nil
    }
}
