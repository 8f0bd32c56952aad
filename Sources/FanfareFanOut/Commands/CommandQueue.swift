import FanfareModel

/// Commands that wait to be applied by a shard, in order of arrival.
///
/// A queued version is dropped when a newer one of its topic is appended: each activity that lacks it gets the newer one. So the work of
/// a shard that is behind is bounded by the number of topics, however long it has been behind. A version is kept if it has an alert, was
/// republished by an operator, is an end, has news for the spotlight, or is more urgent than the newer one.
@usableFromInline package struct CommandQueue {
    /// Commands in order; `nil` for a dropped one.
    private var entries: [ShardCommand?] = []
    /// Index of the next command to be taken.
    private var head = 0
    /// Number of places before the first of `entries`.
    private var cut = 0
    /// Number of dropped commands among `entries`.
    private var overtaken = 0
    /// Lower bound on the number of `followed` that were appended since the last removal of gaps and have not been taken.
    private var followed = 0
    /// Places of versions that may be dropped, counted from the first command ever appended.
    private var versions = ReplaceableVersions()
    /// The place of the last `reportQuiet`: no version before it may be dropped.
    private var asked = 0

    package init() {}

    /// Number of commands that are still to be taken.
    @usableFromInline package var count: Int { entries.count - head - overtaken }
    @usableFromInline package var isEmpty: Bool { count == 0 }

    /// Appends a command.
    ///
    /// - Parameter overtake: receives the serial of each publication that is dropped because of this one.
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
                && publication.prominence.occasionWeight == nil
            if mayBeLeftOut {
                let place = cut + entries.count
                if publication.priority == .immediate { waiting.immediate = place } else { waiting.conserving = place }
            }
            if waiting != before { versions.set(waiting, of: publication) }
        case .reportQuiet:
            // The answer covers the versions before the question, so these must not be dropped for versions after it.
            asked = cut + entries.count
        case .followed: followed += 1
        default: break
        }
        entries.append(command)
        let droppable = overtaken + followed
        if droppable > CommandQueue.gapsMin, droppable * 2 > entries.count - head { tighten() }
    }

    /// Gaps are removed only above this number.
    private static let gapsMin = 1024
    /// Number of places in memory, including gaps.
    var room: Int { entries.count }

    /// Removes the gaps of dropped commands, and each `followed` directly before another one. While nothing is taken, no other call frees places.
    private mutating func tighten() {
        var kept: [ShardCommand?] = []
        var places: [Int: Int] = [:]
        let start = cut + head
        let askedAt = asked
        for index in head..<entries.count where entries[index] != nil {
            if case .followed = entries[index], case .followed? = kept.last { kept.removeLast() }
            places[cut + index] = start + kept.count
            kept.append(entries[index])
            if cut + index < askedAt { asked = start + kept.count }
        }
        versions.move { places[$0] }
        (entries, cut, head, overtaken, followed) = (kept, start, 0, 0, 0)
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
            guard let next else {
                overtaken -= 1
                continue
            }
            if case .followed = next { followed = max(0, followed - 1) }
            return next
        }
        return nil
    }

    /// Describes a wrong count, a question that is not at its place, or a version that is not; `nil` if there is none. For tests.
    func violation() -> String? {
        let start = cut + head
        let gaps = entries[head...].count { $0 == nil }
        guard gaps == overtaken, entries[..<head].allSatisfy({ $0 == nil }) else {
            return "\(overtaken) commands are counted as dropped, \(gaps) are, from place \(start) on"
        }
        let joins = entries[head...].count { if case .followed? = $0 { true } else { false } }
        guard (0...joins).contains(followed) else { return "of \(joins) `followed`, \(followed) are counted" }
        // 0 also stands for no question.
        if asked > 0, asked >= start {
            guard asked < cut + entries.count, case .reportQuiet? = entries[asked - cut] else {
                return "no question is at place \(asked)"
            }
        }
        return versions.violation(from: start) { place in
            guard place < cut + entries.count, case .publish(let publication)? = entries[place - cut] else {
                return nil
            }
            return publication
        }
    }
}
