import FanfareModel

/// Living topics, each in a place of its own until it is forgotten; then another topic may take the place. References that may
/// outlive their topic, such as timers, hold its birth number as well.
struct TopicTable: Sendable {
    /// Topics by place; a vacant place holds a topic of birth 0. A read of one member of a `Topic?` would copy the whole topic and
    /// everything that it refers to.
    private var places: [Topic] = []
    private var free: [UInt32] = []
    private var placesByID: [TopicID: UInt32] = [:]
    /// Places of recently used topics, by hash of their ids, which save most events a look-up in `placesByID`. Four entries per
    /// place, limited to the size of a processor's nearest caches.
    private var recent = [UInt32](repeating: 0, count: 64)
    private static let recentMax = 1 << 14
    /// Birth number of the next topic to be inserted; counts up over all topics ever.
    private(set) var nextBirth: UInt64 = 1

    /// Number of living topics.
    var count: Int { placesByID.count }

    /// Topic in a place, which must be a living topic's.
    subscript(place: Int) -> Topic {
        _read { yield places[place] }
        _modify { yield &places[place] }
    }

    mutating func find(_ id: TopicID) -> Int? {
        let entry = Int(truncatingIfNeeded: id.rawValue.utf8.keyedHash) & (recent.count - 1)
        let guess = Int(recent[entry])
        if guess < places.count, places[guess].birth > 0, places[guess].id == id { return guess }
        guard let place = placesByID[id] else { return nil }
        recent[entry] = place
        return Int(place)
    }

    func place(of id: TopicID) -> Int? { placesByID[id].map(Int.init) }

    /// Returns `true` if the topic with this birth number lives in the place.
    func isAlive(_ birth: UInt64, at place: Int) -> Bool { places[place].birth == birth }

    /// Returns `true` if this is still the latest end of its topic, and the topic has not begun again.
    func isOver(_ end: EndedTopics.Entry) -> Bool {
        let place = Int(end.place)
        return isAlive(end.birth, at: place) && places[place].shown.ended && places[place].shown.version == end.version
    }

    /// - Parameter topic: a topic with birth `nextBirth` and an id that no living topic has.
    mutating func insert(_ topic: Topic) -> Int {
        nextBirth += 1
        let place = free.popLast() ?? UInt32(places.count)
        placesByID[topic.id] = place
        if Int(place) < places.count {
            places[Int(place)] = topic
        } else {
            places.append(topic)
            if 4 * places.count > recent.count, recent.count < TopicTable.recentMax {
                recent = [UInt32](repeating: 0, count: 2 * recent.count)
            }
        }
        return Int(place)
    }

    mutating func remove(_ place: Int) {
        guard places[place].birth > 0 else { return }
        placesByID[places[place].id] = nil
        places[place] = Topic(TopicID(""), birth: 0, kind: nil, rules: places[place].kindRules)
        free.append(UInt32(place))
    }

    /// Places of the living topics, in no particular order.
    var living: [Int] { placesByID.values.map(Int.init) }

    /// Living topics, in birth order.
    var inBirthOrder: [Topic] { places.filter { $0.birth > 0 }.sorted { $0.birth < $1.birth } }
}
