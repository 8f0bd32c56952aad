import FanfareModel
import FanfareQueues

/// The topics that a shard knows, by index: those that the core keeps and publishes, and those of the shard's audiences. Any other topic
/// is removed, and its index may be reused.
///
/// An id may be reused for another topic. When the new topic is published or followed, the earlier topic stays with its followers without a name
/// (`detach`): it is not found by its id, and is published no more. Lineups consist of ids, and show the topic that has the id now.
struct KnownTopics {
    struct Topic {
        let id: TopicID
        fileprivate(set) var latest: Publication?
        /// The latest publication as lineups show it; `nil` until a lineup does.
        private(set) var encoded: LineupTopic?
        /// The latest publication as the rotations of lineups see it. They read it often. A topic that has ended counts as not dismissed.
        private(set) var rotationTopic = SpotlightCandidate(.gone)
        /// The time at which a topic that has ended is dismissed, after which no lineup shows it.
        private(set) var goneAt: MonotonicTime?
        private var followersIndex = AudienceIndex.none
        /// Index of its followers' audience; `nil` while it has none.
        var followers: AudienceIndex? {
            get { followersIndex == .none ? nil : followersIndex }
            set { followersIndex = newValue ?? AudienceIndex.none }
        }
        /// Number of lineups that show the topic.
        var lineups: Int {
            get { Int(lineupsCount) }
            set { lineupsCount = UInt32(newValue) }
        }
        private var lineupsCount: UInt32 = 0
        /// Is `true` when the core publishes the topic no more. The latest publication stays for the audiences that show it.
        fileprivate(set) var isForgotten = false
        /// Is `true` when the id means another topic.
        fileprivate(set) var isDetached = false
        /// Birth of the core's topic (`TopicNumber`) whose publications the row takes; 0 if they are matched by id.
        fileprivate var birth: UInt64 = 0

        /// Is `true` after the topic's last publication: activities that follow from now on wait for the next topic with its id.
        var isOver: Bool { latest.map { isForgotten || $0.freesID } ?? false }

        fileprivate init(id: TopicID) { self.id = id }

        fileprivate var isNeeded: Bool { latest != nil && !isForgotten || followers != nil || lineups > 0 }

        fileprivate mutating func take(
            _ publication: Publication, in order: LineupRules.Order, at moment: Moment
        ) {
            latest = publication
            encoded = nil
            isForgotten = false
            let life: SpotlightCandidate.Life =
                publication.event == .end ? .ended : publication.prominence.hasBegun ? .live : .upcoming
            rotationTopic = SpotlightCandidate(life, importance: publication.prominence.importance)
            if order == .schedule {
                rotationTopic.scheduledAt =
                    publication.scheduledAt.map { UInt32($0.milliseconds / 1000) } ?? SpotlightCandidate.unscheduled
            }
            goneAt =
                publication.event == .end
                ? moment.monotonic
                    + (publication.dismissal?.duration(from: moment.wall)
                        ?? Dismissal.longest) : nil
        }

        fileprivate mutating func forget() {
            isForgotten = true
            birth = 0
            encoded = nil
        }

        /// Returns the latest publication as lineups show it, encoded by the first call.
        mutating func inLineups() -> LineupTopic? {
            if encoded == nil { encoded = latest.map(LineupTopic.init) }
            return encoded
        }
    }

    /// Numbers of a topic for visits to lineups.
    @safe struct Face: BitwiseCopyable {
        /// The latest publication as lineups show it, which the topic's row keeps; `nil` until a lineup does.
        fileprivate(set) var encoded: Unmanaged<LineupTopic>?
        fileprivate(set) var topic: SpotlightCandidate
        /// `Topic.goneAt`; `never` for none.
        fileprivate(set) var goneAt = MonotonicTime.never

        /// Returns the topic as rotations see it, which do not show a topic that has ended and is dismissed.
        func topic(at now: MonotonicTime) -> SpotlightCandidate {
            guard topic.life == .ended, goneAt <= now else { return topic }
            var gone = topic
            gone.life = .gone
            return gone
        }
    }

    /// Faces of the topics, by place.
    private(set) var faces = GrowingColumn<Face>()
    private var rows = SegmentedArray<Topic>()
    /// Indices of the topics that are found by their ids, by hash of the id, which stays in the topic's row.
    private var names = SegmentTable()
    /// Index of the topic of the last publication, by the place of its number. It is valid while that row has the number's birth.
    private var indicesByPlace = GrowingColumn<TopicIndex>()
    /// Indices without a topic.
    private var free = SegmentedArray<TopicIndex>()
    /// Number of rows without a name, by the id that they had. The dictionary doubles as a whole: such a row is left only by a topic that is over and
    /// has followers while its id has another topic, and goes with the last of them.
    private var nameless: [TopicID: Int] = [:]
    /// Number of topics that are followed, and of which nothing has been published.
    private(set) var unpublished = 0
    /// Maximum of `unpublished`; by default the number of topics that the core keeps at most, beyond which none is ever published.
    private let unpublishedMax: Int
    /// Order of the rows of lineups.
    private let order: LineupRules.Order
    /// States and alerts of topics that cards to be loaded may lack.
    var resumed = ResumedTopics()

    init(unpublishedMax: Int, order: LineupRules.Order = .person) {
        self.unpublishedMax = unpublishedMax
        self.order = order
    }

    var count: Int { names.count }

    subscript(index: TopicIndex) -> Topic {
        _read { yield rows[index.place] }
        _modify { yield &rows[index.place] }
    }

    func index(of id: TopicID) -> TopicIndex? {
        names.find(KnownTopics.hash(id)) { rows[$0].id == id }.map { TopicIndex($0) }
    }

    /// Swift keys the hash per process, as it does for a dictionary.
    private static func hash(_ id: TopicID) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(id)
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }

    /// Makes a topic's id lead to its row. The id must lead to no other one.
    private mutating func name(_ index: TopicIndex) {
        let rows = rows
        names.insert(index.place) { KnownTopics.hash(rows[$0].id) }
    }

    /// Ends what `name` has begun.
    private mutating func removeName(of index: TopicIndex) {
        let rows = rows
        names.remove(index.place) { KnownTopics.hash(rows[$0].id) }
    }

    /// Returns whether this many more topics of which nothing has been published can be followed.
    func hasRoom(for count: Int) -> Bool { unpublished + count <= unpublishedMax }

    /// Returns the index of a topic, which is added if it is new. The caller publishes a new topic, or makes an audience of it, at once.
    mutating func insert(_ id: TopicID) -> TopicIndex {
        if let known = self.index(of: id) { return known }
        let index = place(Topic(id: id))
        name(index)
        unpublished += 1
        return index
    }

    /// Returns the index of a publication's topic, which is added if it is new. The name of a numbered topic is looked up only for its first
    /// publication: a topic that is begun again has another number.
    mutating func insert(topicOf publication: Publication) -> TopicIndex {
        let number = publication.topic
        let place = Int(number.place)
        if number.birth > 0, place < indicesByPlace.count {
            let index = indicesByPlace[place]
            if index.place < rows.count, self[index].birth == number.birth { return index }
        }
        let index = insert(publication.topicID)
        guard number.birth > 0 else { return index }
        if place >= indicesByPlace.count {
            indicesByPlace.append(repeating: .none, count: place + 1 - indicesByPlace.count)
        }
        indicesByPlace[place] = index
        self[index].birth = number.birth
        return index
    }

    mutating func take(_ publication: Publication, of index: TopicIndex, at moment: Moment) {
        if self[index].latest == nil { unpublished -= 1 }
        self[index].take(publication, in: order, at: moment)
        show(index)
    }

    /// Renews the topic's face.
    private mutating func show(_ index: TopicIndex) {
        let row = self[index]
        let face = unsafe Face(
            encoded: row.encoded.map(Unmanaged.passUnretained), topic: row.rotationTopic, goneAt: row.goneAt ?? .never)
        if index.place == faces.count { faces.append(face) } else { faces[index.place] = face }
    }

    /// Encodes the topic's latest publication for lineups, unless that has been done since its arrival.
    mutating func encode(_ index: TopicIndex) {
        guard unsafe faces[index.place].encoded == nil, self[index].inLineups() != nil else { return }
        show(index)
    }

    /// Returns whether the topic's latest publication has the same event and state.
    func shows(_ publication: Publication, _ index: TopicIndex) -> Bool {
        guard let latest = self[index].latest, latest.state.hash == publication.state.hash else { return false }
        return latest.event == publication.event && latest.state.bytes == publication.state.bytes
    }

    /// Moves a topic that is over to a row without a name, for its followers, so that its id is free for another topic.
    ///
    /// - Returns: the index of that row.
    mutating func detach(_ index: TopicIndex) -> TopicIndex {
        var old = self[index]
        old.isDetached = true
        old.forget()
        old.lineups = 0
        self[index].followers = nil
        nameless[old.id, default: 0] += 1
        return place(old)
    }

    /// Gives a topic an index that no other has.
    private mutating func place(_ topic: Topic) -> TopicIndex {
        let index = free.popLast() ?? TopicIndex(rows.count)
        if index.place == rows.count { rows.append(topic) } else { self[index] = topic }
        show(index)
        return index
    }

    /// Returns whether an earlier topic with that id has followers, who may lack its end.
    func hasFollowersOfEarlier(_ id: TopicID) -> Bool { nameless[id] != nil }

    /// Notes that the core publishes the topic no more.
    mutating func forget(_ id: TopicID) {
        guard let index = self.index(of: id) else { return }
        self[index].forget()
        show(index)
        // Another topic may get the index from here on.
        resumed.forget(index)
        release(index)
    }

    /// Removes the topic if neither the core nor an audience needs it. Called after an audience of the topic has been removed.
    mutating func release(_ index: TopicIndex) {
        let topic = self[index]
        guard !topic.isNeeded, topic.isDetached || self.index(of: topic.id) == index else { return }
        if topic.latest == nil { unpublished -= 1 }
        if topic.isDetached { forgetNameless(topic.id) } else { removeName(of: index) }
        self[index] = KnownTopics.vacant
        show(index)
        free.append(index)
    }

    private mutating func forgetNameless(_ id: TopicID) {
        guard let count = nameless[id] else { return }
        nameless[id] = count > 1 ? count - 1 : nil
    }

    private static var vacant: Topic { Topic(id: TopicID("")) }

    /// The latest publication of each topic, in order of publication.
    var published: [Publication] { names.places.compactMap { rows[$0].latest }.sorted { $0.serial < $1.serial } }

    // For checks.
    /// Number of rows in memory.
    var capacity: Int { rows.count }
    var lineupsListed: Int { rows.reduce(0) { $0 + $1.lineups } }
    var followed: Int { rows.count { $0.followers != nil } }

    func violation() -> String? {
        if let violation = names.violation() { return "topics by id: \(violation)" }
        let named = names.places.map { TopicIndex($0) }
        let detached = rows.indices.map { TopicIndex($0) }.filter { self[$0].isDetached }
        guard named.allSatisfy({ index(of: self[$0].id) == $0 && !self[$0].isDetached }),
            named.count + detached.count + free.count == rows.count,
            Dictionary(detached.map { (self[$0].id, 1) }, uniquingKeysWith: +) == nameless
        else { return "topics are not found by their ids" }
        if let idle = (named + detached).first(where: { !self[$0].isNeeded }) {
            return "topic \(self[idle].id) is kept, and nobody needs it"
        }
        if let stranger = rows.first(where: { $0.birth > 0 && ($0.isDetached || $0.isForgotten || $0.latest == nil) }) {
            return "topic \(stranger.id) takes publications of a topic that is no more"
        }
        let births = rows.lazy.map(\.birth).filter { $0 > 0 }
        guard Set(births).count == births.count else { return "two topics take the publications of one" }
        let counted = named.count { self[$0].latest == nil }
        guard counted == unpublished else {
            return "\(unpublished) topics are counted as never heard of, \(counted) are"
        }
        return resumed.violation(rows: rows.count) { self[$0].id }
    }
}

extension KnownTopics {
    /// Returns `nil` if an activity can show this audience's topics.
    func refusal(of key: AudienceKey) -> CommandRefusal? {
        switch key {
        case .topic(let id):
            guard id.isValid else { return .topic }
            return hasRoom(for: 1) || index(of: id) != nil ? nil : .tooManyTopics
        case .lineup(let ids, _):
            guard (1...AudienceKey.topicsMax).contains(ids.count), Set(ids).count == ids.count else { return .lineup }
            guard ids.allSatisfy(\.isValid) else { return .topic }
            if hasRoom(for: ids.count) { return nil }
            // A closure over the tables would count their references for each of them.
            var unknown = 0
            for id in ids where index(of: id) == nil { unknown += 1 }
            return hasRoom(for: unknown) ? nil : .tooManyTopics
        }
    }
}
