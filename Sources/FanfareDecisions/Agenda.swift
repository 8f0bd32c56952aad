import FanfareModel

/// What a topic has still to do, and when: changes that wait for a flush, and the moments for which its timers are set.
struct Agenda: Sendable {
    /// Of the next version.
    private(set) var causes = Causes()
    private(set) var deadlines = Deadlines()
    /// The next flush shows the state although everybody may have it.
    private(set) var republishes = false

    var flushAt: FeedTime? {
        get { deadlines[.flush] }
        set { deadlines[.flush] = newValue }
    }
    /// While the topic runs, when its feed will have been silent for too long; after its end, when it is forgotten.
    var lapseAt: FeedTime? {
        get { deadlines[.lapse] }
        set { deadlines[.lapse] = newValue }
    }

    /// An event changed something, which the next version carries.
    mutating func add(_ cause: String, max: Int) { causes.add(cause, max: max) }

    /// The state is to be shown once more, now.
    mutating func republish(now: FeedTime) {
        republishes = true
        flushAt = now
    }

    /// A version carries all that waited. The lapse stays.
    mutating func clear() {
        causes = Causes()
        republishes = false
        flushAt = nil
    }

    /// The core's timers hold that deadline.
    mutating func arm(_ timer: Timers.Kind, _ deadline: FeedTime?) { deadlines.arm(timer, deadline) }
}

/// Which events a version carries, in the order in which they came. Bounded; the surplus is counted.
struct Causes: Sendable {
    private(set) var ids: [String] = []
    private(set) var unnamed = 0

    var count: Int { ids.count + unnamed }

    mutating func add(_ id: String, max: Int) {
        if ids.count < max { ids.append(id) } else { unnamed += 1 }
    }
}
