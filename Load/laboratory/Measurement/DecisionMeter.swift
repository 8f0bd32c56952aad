import FanfareDecisions
package import FanfareModel

/// The core's part of the measurement: when each publication was decided, and when its last activity had it. Confined to the core's thread;
/// all moments are monotonic nanoseconds.
package struct DecisionMeter {
    package let table: PublicationTable
    /// Measured part of the planned moments.
    package var measured: Range<Int64> = .max..<Int64.max
    /// The event that is being decided; `nil` while timers act.
    package var cause: DecisionCause?
    /// Moment at which the rules let go what a timer publishes.
    package var deadline: Int64 = 0
    /// Times until each publication was decided, and until its last activity had it.
    package private(set) var stages = StageHistograms()
    /// Topic kinds by their index; kinds beyond the last count with it.
    package private(set) var kinds: [TopicKind] = []
    package var goals = GoalTally()
    /// Outcomes of the measured events and of timers, and reasons for demoted alerts.
    package private(set) var outcomes: [Outcome: Int] = [:]
    /// Publications, events that changed something visible, and the rules' answers to alerts, of the measurement.
    package private(set) var counts = (publications: 0, visible: 0, alertsGranted: 0, alertsDemoted: 0)
    /// Highest serial that has been noted.
    package private(set) var newest: UInt64 = 0
    /// Times from the plan until the core takes an event, of all measured events.
    package private(set) var taken = LatencyHistogram()
    /// Measured publications that some activity may still lack.
    private var open: [UInt64: TopicID] = [:]
    /// Publications that a newer one's completion finishes, by topic.
    private var overtaken: [TopicID: [UInt64]] = [:]

    /// Monotonic moments at which tokens were answered as dead, by the bits of their activities' ids.
    private(set) var deaths: [UInt64: Int64] = [:]
    private var serials: TopicSerials

    /// - Parameter topics: of the schedule.
    package init(_ table: PublicationTable, topics: [TopicID] = []) {
        self.table = table
        serials = TopicSerials(topics)
    }

    /// Is `true` for the schedule's planned moments; timers act when their deadline is in the measurement.
    private func isMeasured(_ planned: Int64) -> Bool { measured.contains(planned) }

    /// Notes that the core takes the event of the cause.
    package mutating func noteTaken(at now: Int64) {
        guard let cause, isMeasured(cause.planned) else { return }
        taken.record(nanoseconds: now - cause.planned)
    }

    /// Notes a publication before any shard gets it.
    package mutating func note(_ publication: Publication, at now: Int64) {
        var row = PublicationTable.Row()
        let isOfCause = cause?.topic == publication.topicID
        row.planned = isOfCause ? cause?.planned ?? deadline : deadline
        row.decided = now
        row.series = Series(publication, of: isOfCause ? cause?.occasion : nil)
        row.kind = index(of: publication.topicKind)
        row.isMeasured = isMeasured(row.planned)
        if let (topic, previous) = serials.note(publication) { (row.topic, row.previous) = (topic, previous) }
        newest = max(newest, publication.serial)
        if row.isMeasured {
            counts.publications += 1
            open[publication.serial] = publication.topicID
            stages.record(.decided, row, nanoseconds: now - row.planned)
            if row.series == .goal,
                let number = goals.track(publication.serial, of: publication.topicID, planned: row.planned)
            {
                row.goal = UInt8(number)
            }
        }
        table.note(row, of: publication.serial)
    }

    private mutating func index(of kind: TopicKind) -> UInt8 {
        if let known = kinds.firstIndex(of: kind) { return UInt8(known) }
        guard kinds.count < PublicationTable.kindsMax else { return UInt8(kinds.count - 1) }
        kinds.append(kind)
        return UInt8(kinds.count - 1)
    }

    package mutating func note(_ record: DecisionRecord) {
        guard isMeasured(cause?.planned ?? deadline) else { return }
        outcomes[record.outcome, default: 0] += 1
        if record.origin == .event, cause?.occasion == .goal { goals.noteTaken(record.outcome) }
        if record.origin == .event, [.published, .conflated].contains(record.outcome) { counts.visible += 1 }
        switch record.alert {
        case .granted: counts.alertsGranted += 1
        case .demoted: counts.alertsDemoted += 1
        case nil: break
        }
    }

    /// Notes that an activity is no more, because its token is dead.
    mutating func noteDeath(of activity: ActivityID, at now: Int64) { deaths[activity.rawValue] = now }

    /// Events without a publication and alerts that became silent, by reason.
    var suppressed: [Count] {
        let counts = Outcome.allCases.filter { $0 != .published }.compactMap { outcome in
            outcomes[outcome].map { Count("events \(outcome.rawValue)", $0) }
        }
        return counts + (self.counts.alertsDemoted > 0 ? [Count("alerts demoted", self.counts.alertsDemoted)] : [])
    }

    /// - Parameter moment: time at which the last activity had the publication; `nil` if no activity was to get it.
    package mutating func complete(_ serial: UInt64, of topic: TopicID, at moment: Int64?) {
        finish(serial, at: moment)
        // Without a moment nothing is known of older publications: a lineup may have nothing new to see in this one.
        guard !overtaken.isEmpty, let moment, let older = overtaken[topic] else { return }
        for older in older where older < serial { finish(older, at: moment) }
        let rest = older.filter { $0 > serial }
        overtaken[topic] = rest.isEmpty ? nil : rest
    }

    package mutating func overtake(_ serial: UInt64, of topic: TopicID) {
        overtaken[topic, default: []].append(serial)
    }

    /// Notes the end of an engine after which another one goes on. The next engine brings the state that each topic shows, and so finishes
    /// the sweeps that the first one had begun.
    package mutating func noteRestart() {
        for (serial, topic) in open where overtaken[topic]?.contains(serial) != true {
            overtaken[topic, default: []].append(serial)
        }
    }

    private mutating func finish(_ serial: UInt64, at moment: Int64?) {
        let row = table[serial]
        table.finish(serial)
        // An engine that goes on after another one sends what its topics show once more: no time is counted twice.
        guard open.removeValue(forKey: serial) != nil, let moment else { return }
        noteLast(moment, of: serial, row)
        if row.goal > 0 { goals.noteLast(moment, of: Int(row.goal)) }
    }

    /// Counts each publication that has not reached all of its activities as if its last activity had it now: it takes longer than that,
    /// and without it the figures of `last` would be better the more is lost.
    package mutating func close(at now: Int64) {
        for serial in open.keys {
            let row = table[serial]
            if row.series == .goal { goals.noteUnfinished() }
            noteLast(now, of: serial, row)
        }
        open = [:]
    }

    private mutating func noteLast(_ moment: Int64, of serial: UInt64, _ row: PublicationTable.Row) {
        stages.record(.last, row, nanoseconds: moment - row.planned)
        table.noteLast(moment, of: serial)
    }
}
