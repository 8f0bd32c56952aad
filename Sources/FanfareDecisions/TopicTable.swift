import FanfareModel

/// Living topics, each in a place of its own until it is forgotten; then another topic may take the place. References that may
/// outlive their topic, such as timers, hold its birth number as well.
struct TopicTable: Sendable {
    /// Topics by place; a vacant place holds a topic of birth 0. A read of one member of a `Topic?` would copy the whole topic and
    /// everything that it refers to.
    private var places: [Topic] = []
    private var free: [UInt32] = []
    private var index = PlaceIndex()
    /// Birth number of the next topic; counts up over all topics there have been.
    private(set) var nextBirth: UInt64 = 1
    /// Checkpoint that is being written; `nil` while there is none. Every change of a topic passes `_modify` or `remove`, which write it before.
    private(set) var checkpoint: CheckpointPass?

    /// Living topics.
    var count: Int { index.count }

    /// Topic in a place, which must be a living topic's.
    subscript(place: Int) -> Topic {
        // A getter, because Swift 6.3's debug builds read a member of a large struct that a coroutine yielded after its end.
        get { places[place] }
        _modify {
            if checkpoint != nil { save(place) }
            yield &places[place]
        }
    }

    func place(of id: TopicID) -> Int? { index.find(id.rawValue.utf8.keyedHash) { places[$0].id == id } }

    /// Returns `true` if the topic with this birth number lives in the place.
    func isAlive(_ birth: UInt64, at place: Int) -> Bool { place < places.count && places[place].birth == birth }

    /// Returns `true` if this is still the latest end of its topic, and the topic has not begun again.
    func isOver(_ end: EndedTopics.Entry) -> Bool {
        let place = Int(end.place)
        return isAlive(end.birth, at: place) && places[place].shown.ended && places[place].shown.version == end.version
    }

    /// - Parameter topic: a topic with birth `nextBirth` and an id that no living topic has.
    mutating func insert(_ topic: Topic) -> Int {
        nextBirth += 1
        return put(topic)
    }

    private mutating func put(_ topic: Topic) -> Int {
        let place = free.popLast() ?? UInt32(places.count)
        index.insert(Int(place), topic.id.rawValue.utf8.keyedHash)
        if Int(place) < places.count { places[Int(place)] = topic } else { places.append(topic) }
        return Int(place)
    }

    mutating func remove(_ place: Int) {
        guard places[place].birth > 0 else { return }
        if checkpoint != nil { save(place) }
        index.remove(place, places[place].id.rawValue.utf8.keyedHash)
        places[place] = Topic(TopicID(""), birth: 0, kind: nil, rules: places[place].kindRules)
        free.append(UInt32(place))
    }

    /// Places of the living topics, in no particular order.
    var living: [Int] { places.indices.filter { places[$0].birth > 0 } }

    /// Living topics, in birth order.
    var inBirthOrder: [Topic] { places.filter { $0.birth > 0 }.sorted { $0.birth < $1.birth } }
    // MARK: - Checkpoints

    /// Begins a checkpoint of all living topics.
    ///
    /// - Parameter first: row that precedes those of the topics.
    mutating func beginCheckpoint(_ first: [UInt8]) {
        checkpoint = CheckpointPass(end: nextBirth, places: places.count, first: first)
    }

    /// Gives up the checkpoint before all topics change at once, each of which would be written before.
    mutating func giveUpCheckpoint() { checkpoint?.giveUp() }

    /// Writes topics of the checkpoint until its rows that were not taken have this size.
    mutating func continueCheckpoint(upTo size: ByteCount) {
        // A copy of the pass would make each change copy its rows.
        while checkpoint.map({ $0.size < size && $0.unwritable == nil && !$0.isGivenUp }) == true,
            let place = checkpoint?.next()
        {
            save(place)
        }
    }

    mutating func takeCheckpointRows() -> [[UInt8]] { checkpoint?.takeRows() ?? [] }

    mutating func endCheckpoint() { checkpoint = nil }

    private mutating func save(_ place: Int) {
        guard checkpoint?.owes(place, birth: places[place].birth) == true else { return }
        var writer = SerialWriter()
        writer.write(byte: CheckpointRow.topic.rawValue)
        let hasForm = places[place].write(to: &writer)
        checkpoint?.write(hasForm ? writer.bytes : nil, of: places[place].id, at: place)
    }

    /// Place of the next topic that is restored.
    var nextPlace: Int { Int(free.last ?? UInt32(places.count)) }

    mutating func restore(nextBirth: UInt64) { self.nextBirth = nextBirth }

    /// - Returns: the topic's place; `nil` if there is such a topic already, or there cannot be.
    mutating func restore(_ topic: Topic) -> Int? {
        guard topic.birth > 0, topic.birth < nextBirth, place(of: topic.id) == nil else { return nil }
        return put(topic)
    }
}
