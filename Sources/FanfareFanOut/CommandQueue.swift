import FanfareModel

/// Commands that have come to a shard and wait for their turn, in their order.
///
/// A version that waits while a newer one of its topic stands behind it need not be published any more: whoever would get it gets
/// the newer one. So a shard that is behind has as much to do as there are topics, however long it has been behind. What may not be
/// left out: an alert, what an operator repeats, an end, what is worth a spotlight, and what is more urgent than the newer one.
@usableFromInline package struct CommandQueue {
    /// `nil` where it has been overtaken.
    private var entries: [ShardCommand?] = []
    /// Of the next one to be taken.
    private var head = 0
    /// How many commands were taken before the first of `entries`.
    private var cut = 0
    private var overtaken = 0
    /// Where the newest version of a topic waits that may be left out, counted from the first command there ever was; `immediate`
    /// apart, because what can wait must not overtake what cannot.
    private var versions: [TopicID: (immediate: Int?, conserving: Int?)] = [:]

    package init() {}

    /// Those that are still to be taken.
    @usableFromInline package var count: Int { entries.count - head - overtaken }
    @usableFromInline package var isEmpty: Bool { count == 0 }

    /// - Parameter overtake: told the serial of a publication that is left out because of this one.
    package mutating func append(_ command: consuming ShardCommand, overtake: (UInt64) -> Void) {
        switch command {
        case .publish(let publication):
            var waiting = versions[publication.topicID] ?? (nil, nil)
            if publication.priority == .immediate || publication.event == .end {
                leaveOut(&waiting.immediate, overtake)
            }
            leaveOut(&waiting.conserving, overtake)
            let mayBeLeftOut =
                publication.event == .update && publication.alert == nil && !publication.isRepublished
                && publication.prominence.news == nil
            if mayBeLeftOut {
                let place = cut + entries.count
                if publication.priority == .immediate { waiting.immediate = place } else { waiting.conserving = place }
            }
            versions[publication.topicID] = waiting.immediate ?? waiting.conserving == nil ? nil : waiting
        case .reportQuiet:
            // It asks for what was published before it, and may not be answered while that is only in what comes behind it.
            versions.removeAll(keepingCapacity: true)
        default: break
        }
        entries.append(command)
        if overtaken > CommandQueue.gapsMin, overtaken * 2 > entries.count - head { tighten() }
    }

    /// Places that were left out, below which nobody minds them.
    private static let gapsMin = 1024
    /// Places that are kept, those of what was left out included.
    var room: Int { entries.count }

    /// What was left out takes no room, also while nobody takes anything: then no place would ever be given back.
    private mutating func tighten() {
        var kept: [ShardCommand?] = []
        var places: [Int: Int] = [:]
        let start = cut + head
        for index in head..<entries.count where entries[index] != nil {
            places[cut + index] = start + kept.count
            kept.append(entries[index])
        }
        versions = versions.compactMapValues { waiting in
            let immediate = waiting.immediate.flatMap { places[$0] }
            let conserving = waiting.conserving.flatMap { places[$0] }
            return immediate ?? conserving == nil ? nil : (immediate, conserving)
        }
        (entries, cut, head, overtaken) = (kept, start, 0, 0)
    }

    private mutating func leaveOut(_ place: inout Int?, _ overtake: (UInt64) -> Void) {
        guard let waiting = place.take(), waiting >= cut + head,
            case .publish(let publication)? = entries[waiting - cut]
        else { return }
        entries[waiting - cut] = nil
        overtaken += 1
        overtake(publication.serial)
    }

    package mutating func popFirst() -> ShardCommand? {
        while head < entries.count {
            let next = entries[head].take()
            head += 1
            if head == entries.count {
                // Places that were kept have all been taken.
                versions.removeAll(keepingCapacity: true)
                cut += head
                head = 0
                entries.removeAll(keepingCapacity: true)
            } else if head >= 1024, head * 2 > entries.count {
                cut += head
                entries.removeFirst(head)
                head = 0
            }
            if let next { return next }
            overtaken -= 1
        }
        return nil
    }
}
