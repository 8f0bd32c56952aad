import FanfareModel

/// An alert as it came out: one for all who may be told of it, so that revoking it is one write, however many that are. Confined to its
/// shard's thread.
final class IssuedAlert {
    let topic: TopicID
    let alert: Alert
    /// Monotonic nanoseconds.
    let freshUntil: Int64
    /// Of what it says of which cause: two that say the same have the same.
    let words: UInt64
    /// Among the news of all topics that lineups show.
    @exclusivity(unchecked) var news = NewsNumber()
    /// Nobody is to be told of it any more.
    @exclusivity(unchecked) var isRevoked = false

    init(_ alert: Alert, of topic: TopicID, freshUntil: Int64) {
        self.topic = topic
        self.alert = alert
        self.freshUntil = freshUntil
        var hasher = Hasher()
        hasher.combine(alert.cause)
        hasher.combine(alert.text)
        words = UInt64(truncatingIfNeeded: hasher.finalize())
    }

    func saysTheSame(as other: IssuedAlert) -> Bool {
        words == other.words && alert.cause == other.alert.cause && alert.text == other.alert.text
    }

    /// - Parameter now: when it came out, monotonic nanoseconds.
    convenience init(_ alert: Alert, of topic: TopicID, at now: Int64) {
        self.init(alert, of: topic, freshUntil: now + alert.freshFor.milliseconds * 1_000_000)
    }
}

/// An alert that members who lack its version may still get.
struct PendingAlert {
    /// Of the audience in which it is missed.
    var version: UInt32
    /// Twice the count of the audience's alerts of its class, from 1, and one more where that is the essential one; 0 in another
    /// audience than the one it was published in.
    var number: UInt32
    let issue: IssuedAlert

    var topic: TopicID { issue.topic }
    var alert: Alert { issue.alert }
    var freshUntil: Int64 { issue.freshUntil }
    var isRevoked: Bool { issue.isRevoked }

    func isCarried(at moment: Moment) -> Bool { !isRevoked && moment.monotonicNanoseconds < freshUntil }
}

extension [PendingAlert] {
    /// As many of each class as an audience keeps, the newest of them: or an older one that was carried along would outlive a newer.
    var kept: ArraySlice<PendingAlert> {
        guard count > AlertHistory.perClassMax else { return self[...] }
        var left = SIMD2(repeating: AlertHistory.perClassMax)
        var kept: [PendingAlert] = []
        for alert in reversed() where left[Int(alert.alert.class.rawValue)] > 0 {
            left[Int(alert.alert.class.rawValue)] -= 1
            kept.append(alert)
        }
        kept.reverse()
        return kept[...]
    }
}

/// Which of the alerts that an activity missed a push tells of: indices.
struct Told {
    /// Says what is highlighted.
    let lead: Int
    /// Seldom any; so telling of one alert asks for no memory.
    var beside: [Int] = []

    func contains(_ index: Int) -> Bool { index == lead || beside.contains(index) }
}

extension ArraySlice<PendingAlert> {
    /// Of alerts that an activity missed, the oldest first: which ones its next push tells of. The newest of the highest class
    /// leads; beside it the newest of every other topic that is as weighty, the newer first, as far as their words fit. All
    /// others are superseded.
    func told(at moment: Moment) -> Told? {
        var lead: Int?
        for index in indices where self[index].isCarried(at: moment) {
            if let lead, self[index].alert.class < self[lead].alert.class { continue }
            lead = index
        }
        guard let lead else { return nil }
        var told = Told(lead: lead)
        guard lead > startIndex, self[lead].alert.text.line != nil else { return told }
        var bytes = self[lead].alert.text.byteCount
        for index in indices[..<lead].reversed()
        where self[index].alert.class == self[lead].alert.class && self[index].isCarried(at: moment) {
            guard self[lead].topic != self[index].topic,
                !told.beside.contains(where: { self[$0].topic == self[index].topic }),
                let line = self[index].alert.text.line
            else { continue }
            let more = AlertText.lineBreakBytes + line.escapedByteCount
            guard bytes + more <= AlertText.bytesMax else { continue }
            bytes += more
            told.beside.append(index)
        }
        return told
    }
}

extension AlertText {
    /// Room that every payload has for an alert's words.
    fileprivate static let bytesMax = AlertText.bytesMax
    /// `\\n` in JSON.
    fileprivate static let lineBreakBytes = 2

    /// Names several at once: the first as it is, each other one in a line of its own. Words that the app brings along in its
    /// languages cannot be joined to others, so these stay alone.
    init(naming told: Told, of missed: ArraySlice<PendingAlert>) {
        self = missed[told.lead].alert.text
        let lines = told.beside.compactMap { missed[$0].alert.text.line }
        guard !lines.isEmpty, line != nil, case .text(let own) = body else { return }
        body = .text(([own] + lines).filter { !$0.isEmpty }.joined(separator: "\n"))
    }

    /// In one line, as one of several. `nil`: the app has the words.
    fileprivate var line: String? {
        guard case .text(let title) = title, case .text(let body) = body else { return nil }
        return body.isEmpty ? title : "\(title) · \(body)"
    }
}
