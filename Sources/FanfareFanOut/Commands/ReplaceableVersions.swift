import FanfareModel

/// The places in a queue of the newest versions of topics that a newer version may replace. Places count up and are never reused; a place
/// before the queue's head is stale.
struct ReplaceableVersions {
    struct Places: Equatable {
        var immediate: Int?
        /// Place of the version at priority 5. It is apart from `immediate`, because a version that can wait must not replace one that cannot.
        var conserving: Int?

        var isEmpty: Bool { immediate == nil && conserving == nil }
    }

    /// Places by a topic's number; -1 stands for none, so that a row is small.
    private struct Row {
        var birth: UInt64 = 0
        private var immediate = -1
        private var conserving = -1

        init() {}

        init(birth: UInt64, places: Places) {
            self.birth = birth
            self.places = places
        }

        var places: Places {
            get { Places(immediate: immediate < 0 ? nil : immediate, conserving: conserving < 0 ? nil : conserving) }
            set { (immediate, conserving) = (newValue.immediate ?? -1, newValue.conserving ?? -1) }
        }
    }

    /// Rows by the place of the topic's number, so that no name is looked up.
    private var rows: [Row] = []
    /// Places of publications without a number.
    private var named: [TopicID: Places] = [:]

    /// Returns the places of the versions that this publication may replace.
    ///
    /// - Parameter start: the first valid place: earlier commands have been taken, or may not be replaced.
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
        // The number's place may have belonged to an earlier topic, whose row is overwritten.
        rows[place] = Row(birth: number.birth, places: places)
    }

    /// Notes that all commands have been taken, so that every place is stale.
    mutating func queueIsEmpty() {
        if !named.isEmpty { named.removeAll(keepingCapacity: true) }
    }

    /// Renumbers the places after gaps were removed from the queue.
    ///
    /// - Parameter place: returns the new place of a command, or `nil` if it is no longer in the queue.
    mutating func move(_ place: (Int) -> Int?) {
        func moved(_ places: Places) -> Places {
            Places(immediate: places.immediate.flatMap(place), conserving: places.conserving.flatMap(place))
        }
        for index in rows.indices { rows[index].places = moved(rows[index].places) }
        named = named.mapValues(moved).filter { !$0.value.isEmpty }
    }

    // For checks.
    /// Number of topics that are looked up by name.
    var namesKept: Int { named.count }

    /// Describes a topic without places that is kept, or a place that has no version of its topic and priority; `nil` if there is none. For
    /// tests.
    ///
    /// - Parameters:
    ///   - start: the first place in the queue; those before it are stale.
    ///   - publication: returns the publication at a place; `nil` if there is none.
    func violation(from start: Int, _ publication: (Int) -> Publication?) -> String? {
        if let idle = named.first(where: { $0.value.isEmpty }) { return "topic \(idle.key) is kept without places" }
        /// Returns the versions at places that are not stale; `nil` if one is missing, or has the other priority.
        func versions(at places: Places) -> [Publication]? {
            var found: [Publication] = []
            let expected: [(place: Int?, priority: Priority)] = [
                (places.immediate, .immediate), (places.conserving, .conserving),
            ]
            for (place, priority) in expected {
                guard let place, place >= start else { continue }
                guard let version = publication(place), version.priority == priority else { return nil }
                found.append(version)
            }
            return found
        }
        for (place, row) in rows.enumerated() {
            let number = TopicNumber(place: UInt32(place), birth: row.birth)
            let known = versions(at: row.places)
            guard row.birth > 0 || row.places.isEmpty, let known, known.allSatisfy({ $0.topic == number }) else {
                return "\(row.places) are not places of the topic with birth \(row.birth)"
            }
        }
        for (id, places) in named {
            let known = versions(at: places)
            guard let known, known.allSatisfy({ $0.topic.birth == 0 && $0.topicID == id }) else {
                return "\(places) are not places of topic \(id)"
            }
        }
        return nil
    }
}
