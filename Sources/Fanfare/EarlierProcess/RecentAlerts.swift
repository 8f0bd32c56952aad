import FanfareModel

/// Alerts that were decided a short while ago. After a crash they go on to cards that they have not reached.
struct RecentAlerts {
    /// Entries by topic, each with its number in the order in which they were decided.
    private var entries: [TopicID: [(number: UInt64, entry: RecentAlert)]] = [:]
    private var count = 0
    private var number: UInt64 = 0
    /// Number of entries at which old ones are dropped next.
    private var pruneAt = RecentAlerts.countMin
    /// Entries that the checkpoint which is being written still lacks.
    private var unwritten: ArraySlice<RecentAlert> = []

    /// Greatest number of entries, of which three quarters are kept: the deliveries of half a minute.
    static let countMax = 1 << 14
    static let keptMax = countMax / 4 * 3
    private static let countMin = 1 << 8

    /// - Parameter apps: apps whose people do not get the alert.
    mutating func note(_ publication: Publication, withheldFrom apps: @autoclosure () -> [AppID]) {
        guard publication.event == .update || !publication.freesID else { return forget(publication.topicID) }
        guard let alert = publication.alert else { return }
        if count >= pruneAt { prune(at: alert.grantedAt) }
        restore(RecentAlert(topic: publication.topicID, alert: alert, withheldFrom: apps()))
    }

    /// Entries that may still go on at that log time, the oldest first.
    func kept(at now: FeedTime) -> [RecentAlert] {
        let kept = entries.values.joined().filter { now - $0.entry.alert.grantedAt <= $0.entry.alert.keptFor }
        return kept.sorted { $0.number < $1.number }.suffix(RecentAlerts.keptMax).map(\.entry)
    }

    /// Takes over an entry from a checkpoint.
    mutating func restore(_ entry: RecentAlert) {
        entries[entry.topic, default: []].append((number, entry))
        number += 1
        count += 1
    }

    /// Drops an alert whose cause was withdrawn.
    mutating func revoke(cause: String, of topic: TopicID) {
        guard let known = entries[topic] else { return }
        let left = known.filter { $0.entry.alert.cause != cause }
        count -= known.count - left.count
        entries[topic] = left.isEmpty ? nil : left
    }

    /// Drops the alerts of a topic whose id may belong to another one from now on.
    mutating func forget(_ topic: TopicID) { count -= entries.removeValue(forKey: topic)?.count ?? 0 }

    private mutating func prune(at now: FeedTime) {
        let kept = kept(at: now)
        (entries, count) = ([:], 0)
        for entry in kept { restore(entry) }
        pruneAt = min(RecentAlerts.countMax, max(RecentAlerts.countMin, 2 * count))
    }

    /// Returns the alerts that are still fresh, the oldest first. The fan-out keeps the newest ones of each class.
    ///
    /// - Parameters:
    ///   - start: log time since when all alerts have left with claims.
    ///   - now: log time.
    ///   - wall: wall clock time. The age of an alert that arrived after it is unknown.
    func unfinished(since start: FeedTime, now: FeedTime, wall: FeedTime) -> [(entry: RecentAlert, age: Duration)] {
        kept(at: now).compactMap { entry in
            let age = entry.alert.age(at: now, wall: wall)
            let goesOn = entry.alert.grantedAt > start && entry.alert.arrivedAt <= wall && age < entry.alert.keptFor
            return goesOn ? (entry, age) : nil
        }
    }

    /// Describes a wrong count, a topic with another's alerts or with none, or alerts out of order; `nil` if there is none. For tests.
    func violation() -> String? {
        let found = entries.values.reduce(0) { $0 + $1.count }
        guard found == count else { return "\(count) alerts are counted, \(found) are kept" }
        for (topic, known) in entries {
            guard !known.isEmpty, known.allSatisfy({ $0.entry.topic == topic }) else {
                return "topic \(topic) has no alerts, or another topic's"
            }
            let numbers = known.map(\.number)
            guard zip(numbers, numbers.dropFirst()).allSatisfy({ $0 < $1 }), numbers.allSatisfy({ $0 < number }) else {
                return "the alerts of topic \(topic) are not in the order in which they were decided"
            }
        }
        return nil
    }
}

extension Alert {
    /// Time for which the alert may go on.
    fileprivate var keptFor: Duration { min(freshFor, AlertClaim.ageMax) }
}

// MARK: - Checkpoints

extension RecentAlerts {
    /// First byte of a checkpoint's row of alerts; no other row begins with it.
    static let row: UInt8 = 65
    /// Alerts in a row, some 20 KB.
    private static let alertsPerRow = 128

    /// Begins to write the alerts of this moment.
    mutating func beginRows(at now: FeedTime) { unwritten = kept(at: now)[...] }

    /// Number of rows that are left to write.
    var rowsLeft: Int { (unwritten.count + RecentAlerts.alertsPerRow - 1) / RecentAlerts.alertsPerRow }

    /// Returns the next row; `nil` if there is none.
    mutating func takeRow() -> [UInt8]? {
        guard !unwritten.isEmpty else { return nil }
        let part = unwritten.prefix(RecentAlerts.alertsPerRow)
        unwritten.removeFirst(part.count)
        var writer = SerialWriter()
        writer.write(byte: RecentAlerts.row)
        writer.write(all: part) { $0.write($1) }
        return writer.bytes
    }

    mutating func endRows() { unwritten = [] }
}

// MARK: - Serial form

extension SerialWriter {
    mutating func write(_ entry: RecentAlert) {
        let alert = entry.alert
        write(entry.topic.rawValue)
        write(all: entry.withheldFrom) { $0.write($1) }
        write(alert.cause)
        write(alert.isCauseOfProvider)
        write(byte: alert.class.rawValue)
        write(alert.text)
        write(signed: alert.freshFor.milliseconds)
        write(alert.highlight)
        write(alert.grantedAt)
        write(alert.arrivedAt)
    }
}

extension SerialReader {
    mutating func recentAlert() throws(SerialError) -> RecentAlert {
        let topic = TopicID(try text())
        let apps = try all { (reader) throws(SerialError) in try reader.app() }
        let (cause, isCauseOfProvider) = (try text(), try flag("cause"))
        guard let alertClass = AlertClass(rawValue: try byte()) else { throw .malformed("class") }
        let text = try alert()
        let freshFor = try signed()
        // Sums and differences of accepted times do not overflow.
        guard freshFor.magnitude < 1 << 60 else { throw .malformed("freshness") }
        let highlight = try optionalText()
        let (grantedAt, arrivedAt) = (try time(), try time())
        guard grantedAt.milliseconds.magnitude < 1 << 60, arrivedAt.milliseconds.magnitude < 1 << 60 else {
            throw .malformed("time")
        }
        return RecentAlert(
            topic: topic,
            alert: Alert(
                cause: cause, isCauseOfProvider: isCauseOfProvider, class: alertClass, text: text,
                freshFor: .milliseconds(freshFor), highlight: highlight, grantedAt: grantedAt, arrivedAt: arrivedAt),
            withheldFrom: apps)
    }
}
