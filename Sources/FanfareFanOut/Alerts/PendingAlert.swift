import FanfareModel

/// A published alert, shared by all activities that may get it, so that one write revokes it for all of them. Confined to its shard's thread.
final class IssuedAlert {
    let topic: TopicID
    let alert: Alert
    let wording: AlertWords
    /// The time until which the alert may leave.
    let freshUntil: MonotonicTime
    /// Hash of the cause and the text.
    let contentHash: UInt64
    /// Number among the news of all topics that lineups show.
    @safe @exclusivity(unchecked) var news = NewsNumber()
    /// Is `true` if an alert of another publication may have the same cause and text.
    @safe @exclusivity(unchecked) var mayBeRepeated = true
    /// Is `true` when no further push may carry the alert.
    @safe @exclusivity(unchecked) var isRevoked = false
    /// Ticket of the first claims that count for the alert.
    @safe @exclusivity(unchecked) var claimedFrom: UInt64 = 1
    /// Is `true` for an alert of the process before this one.
    @safe @exclusivity(unchecked) var isResumed = false
    /// Weight of the alert's news for the spotlight of lineups, once `ResumedTopics` has the alert.
    @safe @exclusivity(unchecked) var weight = 0

    init(_ alert: Alert, of topic: TopicID, freshUntil: MonotonicTime) {
        self.topic = topic
        self.alert = alert
        wording = AlertWords(alert.text)
        self.freshUntil = freshUntil
        var hasher = Hasher()
        hasher.combine(alert.cause)
        hasher.combine(alert.text)
        contentHash = UInt64(truncatingIfNeeded: hasher.finalize())
    }

    /// The time of publication.
    var issuedAt: MonotonicTime { freshUntil - alert.freshFor }

    func hasSameContent(as other: IssuedAlert) -> Bool {
        contentHash == other.contentHash && alert.cause == other.alert.cause && alert.text == other.alert.text
    }

    /// - Parameter now: the time of publication.
    convenience init(_ alert: Alert, of topic: TopicID, at now: MonotonicTime) {
        self.init(alert, of: topic, freshUntil: now + alert.freshFor)
    }
}

/// An alert that members which lack its version may still get.
struct PendingAlert {
    /// The alert's version, in the audience whose members may get it.
    var version: UInt32
    /// Twice the count of the audience's alerts of the class so far, this one included, plus 1 if the class is essential; 0 after a move to
    /// another audience than the one in which the alert was published.
    var number: UInt32
    let issue: IssuedAlert

    var topic: TopicID { issue.topic }
    var alert: Alert { issue.alert }
    var freshUntil: MonotonicTime { issue.freshUntil }
    var isRevoked: Bool { issue.isRevoked }

    /// Alerts of each class that are kept for an audience, or for a topic's lineups. A person who missed more than this many has no use for the
    /// oldest; but ordinary alerts, however many, never displace an essential one.
    static let perClassMax = 8

    func isCarried(at moment: Moment) -> Bool { !isRevoked && moment.monotonic < freshUntil }
}

extension [PendingAlert] {
    /// The newest alerts of each class, as many as an audience keeps: otherwise an older alert that is carried along would outlive a newer one.
    var kept: ArraySlice<PendingAlert> {
        guard count > PendingAlert.perClassMax else { return self[...] }
        var left = SIMD2(repeating: PendingAlert.perClassMax)
        var kept: [PendingAlert] = []
        for alert in reversed() where left[Int(alert.alert.class.rawValue)] > 0 {
            left[Int(alert.alert.class.rawValue)] -= 1
            kept.append(alert)
        }
        kept.reverse()
        return kept[...]
    }
}

/// The alerts that a push carries: indices into those that its activity missed.
struct AlertSelection {
    /// The alert that determines the highlight.
    let lead: Int
    /// Further alerts. Mostly there are none, and the empty array allocates nothing.
    var additional: [Int] = []

    var count: Int { 1 + additional.count }

    func contains(_ index: Int) -> Bool { index == lead || additional.contains(index) }
}

extension ArraySlice<PendingAlert> {
    /// Selects the alerts for an activity's next push from those that it missed, the oldest first; `nil` if there are none. The newest of
    /// the highest class leads. The newest of that class from each other topic follow, newer ones first, as far as their texts fit. All
    /// other alerts are superseded.
    func selection(at moment: Moment) -> AlertSelection? {
        var lead: Int?
        for index in indices where self[index].isCarried(at: moment) {
            if let lead, self[index].alert.class < self[lead].alert.class { continue }
            lead = index
        }
        guard let lead else { return nil }
        var selection = AlertSelection(lead: lead)
        guard lead > startIndex, self[lead].alert.text.line != nil else { return selection }
        var bytes = self[lead].alert.text.size.bytes
        for index in indices[..<lead].reversed()
        where self[index].alert.class == self[lead].alert.class && self[index].isCarried(at: moment) {
            guard self[lead].topic != self[index].topic,
                !selection.additional.contains(where: { self[$0].topic == self[index].topic }),
                let line = self[index].alert.text.line
            else { continue }
            let more = AlertText.lineBreakBytes + line.escapedByteCount
            guard bytes + more <= AlertText.sizeMax.bytes else { continue }
            bytes += more
            selection.additional.append(index)
        }
        return selection
    }
}

extension AlertText {
    /// Length of `\\n` in JSON.
    fileprivate static let lineBreakBytes = 2

    /// Creates one text for several alerts: the lead's text, then a line for each further one. A text that the app localises cannot be joined
    /// to others, so it stays alone.
    init(naming selection: AlertSelection, of missed: ArraySlice<PendingAlert>) {
        self = missed[selection.lead].alert.text
        let lines = selection.additional.compactMap { missed[$0].alert.text.line }
        guard !lines.isEmpty, line != nil, case .text(let own) = body else { return }
        body = .text(([own] + lines).filter { !$0.isEmpty }.joined(separator: "\n"))
    }

    /// The text in one line, for use beside others; `nil` if the app localises it.
    fileprivate var line: String? {
        guard case .text(let title) = title, case .text(let body) = body else { return nil }
        return body.isEmpty ? title : "\(title) · \(body)"
    }
}
