import FanfareModel

/// Where in a queue the newest version of each topic stands that a newer one may overtake. Places in the queue count up for ever; what
/// stands before the next one to be taken has gone, whatever is said of it here.
struct WaitingVersions {
    struct Places: Equatable {
        var immediate: Int?
        /// Apart, because what can wait must not overtake what cannot.
        var conserving: Int?

        var isEmpty: Bool { immediate == nil && conserving == nil }
    }

    private struct Row {
        var birth: UInt64 = 0
        var places = Places()
    }

    /// By the place of the topic's number: nobody's name is looked up.
    private var rows: [Row] = []
    /// Of publications without a number.
    private var named: [TopicID: Places] = [:]

    /// - Parameter start: of the queue, whose places before this have been taken, or are not to be spoken of.
    func places(of publication: Publication, from start: Int) -> Places {
        let number = publication.topic
        var places: Places
        if number.birth == 0 {
            places = named[publication.topicID] ?? Places()
        } else {
            guard number.place < rows.count, rows[Int(number.place)].birth == number.birth else { return Places() }
            places = rows[Int(number.place)].places
        }
        if let immediate = places.immediate, immediate < start { places.immediate = nil }
        if let conserving = places.conserving, conserving < start { places.conserving = nil }
        return places
    }

    mutating func set(_ places: Places, of publication: Publication) {
        let number = publication.topic
        guard number.birth > 0 else {
            named[publication.topicID] = places.isEmpty ? nil : places
            return
        }
        let place = Int(number.place)
        if place >= rows.count {
            if places.isEmpty { return }
            rows.append(contentsOf: repeatElement(Row(), count: place + 1 - rows.count))
        }
        // Of a place that is another topic's by now nothing is left to say.
        rows[place] = Row(birth: number.birth, places: places)
    }

    /// All places that were spoken of have been taken.
    mutating func queueIsEmpty() {
        if !named.isEmpty { named.removeAll(keepingCapacity: true) }
    }

    /// The queue has been tightened: each place is another one, or gone.
    mutating func move(_ place: (Int) -> Int?) {
        func moved(_ places: Places) -> Places {
            Places(immediate: places.immediate.flatMap(place), conserving: places.conserving.flatMap(place))
        }
        for index in rows.indices { rows[index].places = moved(rows[index].places) }
        named = named.mapValues(moved).filter { !$0.value.isEmpty }
    }

    // For checks.
    /// Topics of which something is said that names have to be looked up for.
    var namesKept: Int { named.count }
}
