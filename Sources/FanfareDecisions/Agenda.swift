import FanfareModel

/// Pending work of a topic: changes that wait for a flush, and the deadlines of the topic's timers.
struct Agenda: Sendable {
    /// Events that the next version carries.
    private(set) var causes = Causes()
    private(set) var deadlines = Deadlines()
    /// Is `true` when the next flush publishes the state even if it equals the published one.
    private(set) var republishes = false

    var flushAt: FeedTime? {
        get { deadlines[.flush] }
        set { deadlines[.flush] = newValue }
    }
    /// Deadline of the feed's silence while the topic runs; time at which the topic is forgotten after its end.
    var lapseAt: FeedTime? {
        get { deadlines[.lapse] }
        set { deadlines[.lapse] = newValue }
    }

    /// Adds an event as a cause of the next version.
    mutating func add(_ cause: String, max: Int) { causes.add(cause, max: max) }

    /// Schedules a flush at `now` that publishes the state even if it equals the published one.
    mutating func republish(now: FeedTime) {
        republishes = true
        flushAt = now
    }

    /// Clears everything that waited, because a version carries it. Keeps the lapse deadline.
    mutating func clear() {
        causes = Causes()
        republishes = false
        flushAt = nil
    }

    /// Records the deadline that the core's timers hold for a timer kind.
    mutating func arm(_ timer: Timers.Kind, _ deadline: FeedTime?) { deadlines.arm(timer, deadline) }

    /// Describes a deadline by which no timer is set; `nil` if there is none, as there is none between two calls of the core. For tests.
    func violation() -> String? {
        for kind in [Timers.Kind.flush, .lapse] {
            guard let deadline = deadlines[kind] else { continue }
            guard let armed = deadlines.armed(kind), armed <= deadline else {
                return "a \(kind) is due at \(deadline), and no timer is set by then"
            }
        }
        return nil
    }
}

/// Events that a version carries, in order of arrival. Bounded: surplus events are only counted.
struct Causes: Sendable {
    private(set) var ids: [String] = []
    private(set) var unnamed = 0

    var count: Int { ids.count + unnamed }

    mutating func add(_ id: String, max: Int) {
        if ids.count < max { ids.append(id) } else { unnamed += 1 }
    }
}

extension Agenda {
    /// Writes the agenda. The core sets its timers again.
    func write(to writer: inout SerialWriter) {
        writer.write(all: causes.ids) { $0.write($1) }
        writer.write(UInt64(causes.unnamed))
        writer.write(flushAt)
        writer.write(lapseAt)
        writer.write(republishes)
    }

    init(reading reader: inout SerialReader) throws(SerialError) {
        causes = try Causes(reading: &reader)
        flushAt = try reader.optionalTime().map(Agenda.bounded)
        lapseAt = try reader.optionalTime().map(Agenda.bounded)
        republishes = try reader.flag("republication")
    }

    /// Rules may say to wait for ever; no sum of read times may overflow.
    private static func bounded(_ time: FeedTime) -> FeedTime {
        FeedTime(milliseconds: min(max(time.milliseconds, -1 << 60), 1 << 60))
    }
}

extension Causes {
    fileprivate init(reading reader: inout SerialReader) throws(SerialError) {
        ids = try reader.all { (reader) throws(SerialError) in try reader.text() }
        guard let unnamed = UInt32(exactly: try reader.unsigned()) else { throw .malformed("number of causes") }
        self.unnamed = Int(unnamed)
    }
}
