import FanfareModel

/// The topics that live, each in a place of its own until it is forgotten; then the place is the next one's. What outlives its topic,
/// as a timer may, names its birth as well.
struct TopicTable: Sendable {
    /// A vacant place holds a topic of birth 0. `Topic?` would be copied whole, with all that it refers to, wherever one member of it
    /// is read.
    private var places: [Topic] = []
    private var free: [UInt32] = []
    private var index = PlaceIndex()
    /// Of the topic that is inserted next: it counts up over all that ever were.
    private(set) var nextBirth: UInt64 = 1

    /// Of topics that live.
    var count: Int { index.count }

    /// Of a place that a living topic has.
    subscript(place: Int) -> Topic {
        _read { yield places[place] }
        _modify { yield &places[place] }
    }

    func place(of id: TopicID) -> Int? { index.find(id.rawValue.utf8.keyedHash) { places[$0].id == id } }

    /// The topic born then, where it still lives.
    func isAlive(_ birth: UInt64, at place: Int) -> Bool { places[place].birth == birth }

    /// Whether that end is still the last that was heard of its topic.
    func isOver(_ end: EndedTopics.Entry) -> Bool {
        let place = Int(end.place)
        return isAlive(end.birth, at: place) && places[place].shown.ended && places[place].shown.version == end.version
    }

    /// - Parameter topic: of `nextBirth`, with an id that no living topic has.
    mutating func insert(_ topic: Topic) -> Int {
        nextBirth += 1
        let place = free.popLast() ?? UInt32(places.count)
        index.insert(Int(place), topic.id.rawValue.utf8.keyedHash)
        if Int(place) < places.count { places[Int(place)] = topic } else { places.append(topic) }
        return Int(place)
    }

    mutating func remove(_ place: Int) {
        guard places[place].birth > 0 else { return }
        index.remove(place, places[place].id.rawValue.utf8.keyedHash)
        places[place] = Topic(TopicID(""), birth: 0, kind: nil, rules: places[place].kindRules)
        free.append(UInt32(place))
    }

    /// Places of the topics that live, in no particular order.
    var living: [Int] { places.indices.filter { places[$0].birth > 0 } }

    /// In the order of their births.
    var inBirthOrder: [Topic] { places.filter { $0.birth > 0 }.sorted { $0.birth < $1.birth } }
}
