import FanfareModel

/// Grants or demotes the alerts of one topic. It never touches the state: an update over the alert budget goes out silently.
///
/// An alert draws on the bucket of its kind. Ordinary kinds draw also on a bucket that they share; essential kinds draw on the reserve,
/// which only they may use, once their own bucket is empty. So neither a storm of cards nor a storm of goals can silence full time.
struct AlertGovernor: Sendable {
    enum AlertDecision { case granted, demoted(String) }

    fileprivate struct Drawn {
        var kinds: [OccasionKind: TokenBucket] = [:]
        var ordinary: TokenBucket?
        var reserved: TokenBucket?
        /// Causes of granted alerts. No cause is granted twice, and the withdrawal of a granted one revokes its alert. Its capacity of 256 is
        /// far more than the buckets let through while an alert is fresh.
        var granted = RecentIDs(capacity: 256)
    }

    /// Holds one element from the first alert on and is empty before, because most topics never have an alert.
    private var drawn: [Drawn] = []

    /// - Parameter kindRules: rules of the topic's kind.
    mutating func decide(
        on kind: OccasionKind, _ rule: AlertRule, of kindRules: KindRules, text: AlertText, cause: String, now: FeedTime
    ) -> AlertDecision {
        let (size, sizeMax) = (text.size, kindRules.limits.alertSizeMax)
        guard size <= sizeMax else { return .demoted("text of \(size), at most \(sizeMax.bytes)") }
        guard !hasGranted(cause) else { return .demoted("already alerted for \(cause)") }
        if drawn.isEmpty { drawn = [Drawn()] }
        if let refusal = drawn[0].draw(on: kind, rule, of: kindRules.rules, now: now) { return .demoted(refusal) }
        drawn[0].granted.insert(cause)
        return .granted
    }

    /// Gives the buckets that were drawn on the sizes of other rules. A kind without an alert under them keeps its bucket.
    mutating func adopt(_ rules: TopicRules, at now: FeedTime) {
        guard !drawn.isEmpty else { return }
        for kind in Array(drawn[0].kinds.keys) {
            let rule = kind == .requested ? rules.alerts.requested : rules.occasions[kind]?.alert
            if let rule { drawn[0].kinds[kind]?.resize(rule.bucket, at: now) }
        }
        drawn[0].ordinary?.resize(rules.alerts.ordinary, at: now)
        drawn[0].reserved?.resize(rules.alerts.reserved, at: now)
    }

    /// Returns the kinds' buckets that were drawn on, sorted by name, then the shared ones that were.
    func buckets(at now: FeedTime) -> [AlertBucket] {
        guard let drawn = drawn.first else { return [] }
        let own = drawn.kinds.map { (name: $0.key.rawValue, bucket: $0.value) }.sorted { $0.name < $1.name }
        let shared = [("all ordinary", drawn.ordinary), ("reserve", drawn.reserved)].compactMap { name, bucket in
            bucket.map { (name: name, bucket: $0) }
        }
        return (own + shared).map { name, bucket in
            AlertBucket(
                name: name, tokens: bucket.tokens(at: now), burst: bucket.size.burst, nextIn: bucket.wait(at: now))
        }
    }

    func hasGranted(_ cause: String) -> Bool { drawn.first?.granted.contains(cause) ?? false }
}

extension AlertGovernor.Drawn {
    /// - Returns: the reason why there is no token; `nil` if one was taken.
    fileprivate mutating func draw(
        on kind: OccasionKind, _ rule: AlertRule, of rules: TopicRules, now: FeedTime
    ) -> String? {
        var own = kinds[kind] ?? TokenBucket(rule.bucket, at: now)
        defer { kinds[kind] = own }
        switch rule.class {
        case .ordinary:
            var shared = ordinary ?? TokenBucket(rules.alerts.ordinary, at: now)
            let wait = max(own.wait(at: now), shared.wait(at: now))
            guard wait == .zero else { return "over budget for \(kind), next in \(wait.inSeconds)" }
            _ = own.take(at: now)
            _ = shared.take(at: now)
            ordinary = shared
        case .essential:
            var reserve = reserved ?? TokenBucket(rules.alerts.reserved, at: now)
            guard own.take(at: now) || reserve.take(at: now) else {
                let wait = min(own.wait(at: now), reserve.wait(at: now))
                return "over budget for \(kind) and the reserve is empty, next in \(wait.inSeconds)"
            }
            reserved = reserve
        }
        return nil
    }
}

/// State of one alert bucket, for explanations.
package struct AlertBucket: Sendable, Hashable {
    /// Alert kind of the bucket, or a name for the kinds that share it.
    package let name: String
    package let tokens: Int
    package let burst: Int
    /// Time until the next token; zero while a token is available.
    package let nextIn: Duration
}

extension AlertGovernor {
    func write(to writer: inout SerialWriter) {
        writer.write(drawn.first) { writer, drawn in
            let kinds = drawn.kinds.map { (kind: BytewiseText($0.key.rawValue), bucket: $0.value) }
            writer.write(all: kinds.sorted { $0.kind < $1.kind }) { writer, drawn in
                writer.write(drawn.kind.text)
                writer.write(drawn.bucket)
            }
            writer.write(drawn.ordinary) { $0.write($1) }
            writer.write(drawn.reserved) { $0.write($1) }
            drawn.granted.write(to: &writer)
        }
    }

    init(reading reader: inout SerialReader) throws(SerialError) {
        let read = try reader.optional { (reader) throws(SerialError) in
            var drawn = Drawn()
            for (kind, bucket) in try reader.all({ (reader) throws(SerialError) in
                (OccasionKind(try reader.text()), try reader.bucket())
            }) { drawn.kinds[kind] = bucket }
            drawn.ordinary = try reader.optional { (reader) throws(SerialError) in try reader.bucket() }
            drawn.reserved = try reader.optional { (reader) throws(SerialError) in try reader.bucket() }
            drawn.granted = try RecentIDs(reading: &reader)
            return drawn
        }
        drawn = read.map { [$0] } ?? []
    }
}
