import FanfareModel
import FanfareQueues

/// The links of a shard's lineups, in columns indexed by link: a lineup has one for each of its topics, one behind the other.
///
/// The columns are no secret: `LineupTable` reads single numbers of them for each visit, and a method would read the columns one by one.
struct LineupLinks {
    var rows = GrowingColumn<UInt32>()
    var topics = GrowingColumn<TopicIndex>()
    /// Place of the link in its topic's order.
    var places = GrowingColumn<UInt32>()
    /// Is `true` for the link of the topic that the lineup's newest version has in its spotlight.
    var isInSpotlight = GrowingColumn<Bool>()
    /// First links of removed lineups, by number of topics.
    private var free: [SegmentedArray<UInt32>] = Array(
        repeating: SegmentedArray(), count: AudienceKey.topicsMax + 1)

    /// Takes links for the topics of a lineup, none of them in the spotlight. Their places are still to be set.
    ///
    /// - Returns: the first link.
    mutating func take(_ topics: [TopicIndex], row: Int) -> UInt32 {
        let start = free[topics.count].popLast() ?? add(topics.count)
        for (position, topic) in topics.enumerated() {
            let link = Int(start) + position
            rows[link] = UInt32(row)
            self.topics[link] = topic
            isInSpotlight[link] = false
        }
        return start
    }

    private mutating func add(_ count: Int) -> UInt32 {
        let start = rows.count
        rows.append(repeating: 0, count: count)
        topics.append(repeating: .none, count: count)
        places.append(repeating: 0, count: count)
        isInSpotlight.append(repeating: false, count: count)
        return UInt32(start)
    }

    /// Takes the links of a removed lineup back, for another one with as many topics.
    mutating func takeBack(_ links: Range<Int>) { free[links.count].append(UInt32(links.lowerBound)) }

    /// Moves the spotlight of the lineup with these links.
    ///
    /// - Parameter position: index into the lineup's topics.
    mutating func setSpotlight(_ position: Int, in links: Range<Int>) {
        for link in links where isInSpotlight[link] { isInSpotlight[link] = false }
        isInSpotlight[links.lowerBound + position] = true
    }

    /// Describes columns of different lengths, or a link that is neither one lineup's nor free; `nil` if there is none.
    ///
    /// - Parameter held: the links of each lineup.
    func violation(held: [Range<Int>]) -> String? {
        guard [topics.count, places.count, isInSpotlight.count].allSatisfy({ $0 == rows.count }) else {
            return "columns of links have different lengths"
        }
        let spare = free.enumerated().flatMap { count, starts in starts.map { Int($0)..<Int($0) + count } }
        var uses = Array(repeating: 0, count: rows.count)
        for link in (held + spare).joined() {
            guard uses.indices.contains(link) else { return "link \(link) is in use, there are \(uses.count)" }
            uses[link] += 1
        }
        return uses.firstIndex { $0 != 1 }.map { "link \($0) has \(uses[$0]) uses" }
    }
}

/// The topics of a lineup, in order, as an array's slice has them: they stay what they are while the columns change.
struct LinkedTopics: RandomAccessCollection {
    let topics: GrowingColumn<TopicIndex>
    let links: Range<Int>

    var startIndex: Int { links.lowerBound }
    var endIndex: Int { links.upperBound }

    subscript(link: Int) -> TopicIndex { topics[link] }
}
