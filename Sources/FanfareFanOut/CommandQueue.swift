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
    /// Versions that may be left out; their places are counted from the first command there ever was.
    private var versions = WaitingVersions()
    /// The place behind the last question: what stands before it may not be overtaken any more.
    private var asked = 0

    package init() {}

    /// Those that are still to be taken.
    @usableFromInline package var count: Int { entries.count - head - overtaken }
    @usableFromInline package var isEmpty: Bool { count == 0 }

    /// - Parameter overtake: told the serial of a publication that is left out because of this one.
    package mutating func append(_ command: consuming ShardCommand, overtake: (UInt64) -> Void) {
        switch command {
        case .publish(let publication):
            let before = versions.places(of: publication, from: max(asked, cut + head))
            var waiting = before
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
            if waiting != before { versions.set(waiting, of: publication) }
        case .reportQuiet:
            // It asks for what was published before it, and may not be answered while that is only in what comes behind it.
            asked = cut + entries.count
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
        let askedAt = asked
        for index in head..<entries.count where entries[index] != nil {
            places[cut + index] = start + kept.count
            kept.append(entries[index])
            if cut + index < askedAt { asked = start + kept.count }
        }
        versions.move { places[$0] }
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
                versions.queueIsEmpty()
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
