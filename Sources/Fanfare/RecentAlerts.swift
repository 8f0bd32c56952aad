import FanfareModel

/// Alerts that were decided a short while ago. After a crash they still go to those whom they have not reached.
struct RecentAlerts {
    struct Entry {
        let topic: TopicID
        let alert: Alert
        /// Apps whose people did not get it, because an operator had muted or paused them.
        var withheldFrom: [AppID] = []
    }

    /// Entries in the order in which they were decided.
    private var entries: [Entry] = []
    /// Number of entries by topic: most topics have none when they are forgotten.
    private var counts: [TopicID: Int] = [:]
    /// Number of entries at which old ones are dropped next.
    private var pruneAt = RecentAlerts.countMin

    /// Greatest number of entries: the deliveries of a busy minute.
    static let countMax = 1 << 14
    private static let countMin = 1 << 8

    /// - Parameter apps: apps whose people do not get the alert.
    mutating func note(_ publication: Publication, withheldFrom apps: @autoclosure () -> [AppID]) {
        guard publication.event == .update || !publication.freesID else { return forget(publication.topicID) }
        guard let alert = publication.alert else { return }
        if entries.count >= pruneAt { prune(at: alert.grantedAt) }
        restore(Entry(topic: publication.topicID, alert: alert, withheldFrom: apps()))
    }

    /// Entries that may still go to somebody at that log time.
    func kept(at now: FeedTime) -> [Entry] { entries.filter { now - $0.alert.grantedAt <= $0.alert.keptFor } }

    /// Takes over an entry from a checkpoint.
    mutating func restore(_ entry: Entry) {
        entries.append(entry)
        counts[entry.topic, default: 0] += 1
    }

    /// Drops an alert whose cause was withdrawn.
    mutating func revoke(cause: String, of topic: TopicID) {
        guard counts[topic] != nil else { return }
        keep(entries.filter { $0.alert.cause != cause || $0.topic != topic })
    }

    /// Drops the alerts of a topic whose id may belong to another one from now on.
    mutating func forget(_ topic: TopicID) {
        guard counts[topic] != nil else { return }
        keep(entries.filter { $0.topic != topic })
    }

    private mutating func keep(_ kept: [Entry]) {
        entries = kept
        counts = kept.reduce(into: [:]) { $0[$1.topic, default: 0] += 1 }
    }

    private mutating func prune(at now: FeedTime) {
        // A quarter goes at a time, so that not each alert moves all others.
        keep(Array(kept(at: now).suffix(RecentAlerts.countMax / 4 * 3)))
        pruneAt = min(RecentAlerts.countMax, max(RecentAlerts.countMin, 2 * entries.count))
    }

    /// Returns the alerts that are still fresh, the oldest first. The fan-out keeps the newest ones of each class.
    ///
    /// - Parameters:
    ///   - start: log time since when all alerts have left with claims.
    ///   - now: log time.
    ///   - wall: wall clock time.
    func unfinished(since start: FeedTime, now: FeedTime, wall: FeedTime) -> [(entry: Entry, age: Duration)] {
        entries.compactMap { entry in
            let age = entry.alert.age(at: now, wall: wall)
            return entry.alert.grantedAt > start && age < entry.alert.keptFor ? (entry, age) : nil
        }
    }
}

extension Alert {
    /// Time for which the alert may still go to somebody.
    fileprivate var keptFor: Duration { min(freshFor, AlertClaim.ageMax) }
}

// MARK: - Serial form

extension SerialWriter {
    mutating func write(_ entry: RecentAlerts.Entry) {
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
    mutating func recentAlert() throws(SerialError) -> RecentAlerts.Entry {
        let topic = TopicID(try text())
        let apps = try all { (reader) throws(SerialError) in try reader.app() }
        let (cause, isCauseOfProvider) = (try text(), try flag("cause"))
        guard let alertClass = AlertClass(rawValue: try byte()) else { throw .malformed("class") }
        let text = try alert()
        let freshFor = try signed()
        // Times of which sums and differences may be made without an overflow.
        guard freshFor.magnitude < 1 << 60 else { throw .malformed("freshness") }
        let highlight = try optionalText()
        let (grantedAt, arrivedAt) = (try time(), try time())
        guard grantedAt.milliseconds.magnitude < 1 << 60, arrivedAt.milliseconds.magnitude < 1 << 60 else {
            throw .malformed("time")
        }
        return RecentAlerts.Entry(
            topic: topic,
            alert: Alert(
                cause: cause, isCauseOfProvider: isCauseOfProvider, class: alertClass, text: text,
                freshFor: .milliseconds(freshFor), highlight: highlight, grantedAt: grantedAt, arrivedAt: arrivedAt),
            withheldFrom: apps)
    }
}
