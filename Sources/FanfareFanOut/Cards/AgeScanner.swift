import FanfareModel
import FanfareQueues

/// Ages of an activity at which it ends.
package enum ActivityAge {
    /// Age at which the system ends each activity (rule L1).
    package static let lifetime = Duration.seconds(8 * 3600)
    /// Age at which the engine ends it: ten minutes before the system does, so that the phone shows the newest state.
    package static let end = Duration.nanoseconds(AgeScanner(lifetime: lifetime.boundedNanoseconds).endAge)
}

/// A cursor that visits the shard's activities in circles to find those that are due for a renewal or an end; it sleeps while none is.
///
/// A lap has 300 steps. The cursor takes one step at a time within a lap, and after the lap sleeps until the earliest moment at which an activity is
/// due, of that lap or added since. So the scan needs no memory per activity but the second at which each began. Spans of time are in nanoseconds.
struct AgeScanner {
    /// The timer that starts the next pass; there is one while there are activities.
    struct Timer {
        let due: MonotonicTime
        let entry: ShardTimers.Entry
    }

    /// Divisors of the lifetime for three spans: from a renewal's start to the lifetime's end (30 minutes of eight hours), from an end's
    /// push to it (10 minutes), and a lap (5 minutes). A person may take a while to allow the new card its updates; an end may have to
    /// wait for the network.
    private static let renewsAhead: Int64 = 16
    private static let endsAhead: Int64 = 48
    private static let lap: Int64 = 96
    private static let steps: Int64 = 300
    /// Visits in one pass, at most: a millisecond's work, or a few milliseconds if all the visited activities end.
    static let visitsMax = 4096

    /// The time for which an activity may last.
    let lifetime: Int64
    private(set) var timer: Timer?
    /// The slot that the cursor visits next.
    private var cursor = 0
    /// The earliest moment at which an activity of this lap is due.
    private var lapDeadline = MonotonicTime.always
    /// Visits that are due by the time and still to be made.
    private var visitsLeft = 0
    /// Number of slots when the pass began. A card that the pass renews takes a slot after these, and must not use up the visit of an activity that
    /// is due.
    private var slots = 0

    init(lifetime: Int64) { self.lifetime = lifetime }

    var renewAge: Int64 { lifetime - lifetime / AgeScanner.renewsAhead }
    var endAge: Int64 { lifetime - lifetime / AgeScanner.endsAhead }
    private var step: Int64 { max(1, lifetime / AgeScanner.lap / AgeScanner.steps) }

    // MARK: The timer

    /// Returns whether a pass at `due` needs a timer: no timer fires by then.
    func needsTimer(at due: MonotonicTime) -> Bool { timer.map { due < $0.due } ?? true }

    /// Sets the timer of the next pass.
    ///
    /// - Parameter timer: replaces a timer that has been cancelled.
    mutating func set(_ timer: Timer) { self.timer = timer }

    /// Ensures that the next lap begins by `due`, for an activity that may be due sooner than the lap's others.
    mutating func expect(_ due: MonotonicTime) { lapDeadline = min(lapDeadline, due) }

    /// Lets the next lap follow at once, for an activity that is due now and that the cursor may have passed in this lap.
    mutating func revisit(at now: MonotonicTime) { lapDeadline = now }

    // MARK: A pass

    /// Begins a pass after the timer has fired.
    ///
    /// - Parameter slots: the number of slots.
    /// - Returns: the number of slots to visit, at most: those for the time since the timer was due, bounded by a lap and by the maximum
    ///   for one pass.
    mutating func beginPass(over slots: Int, at now: MonotonicTime) -> Int {
        guard let due = timer.take()?.due else { return 0 }
        self.slots = slots
        // A pass that was cut short goes on with its remaining visits.
        let steps = Int(min(AgeScanner.steps, now.nanoseconds(since: due) / step + (visitsLeft > 0 ? 0 : 1)))
        visitsLeft = min(slots, visitsLeft + steps * (slots / Int(AgeScanner.steps) + 1))
        return min(visitsLeft, AgeScanner.visitsMax)
    }

    /// Moves the cursor on by one slot.
    ///
    /// - Returns: the slot to visit.
    mutating func nextVisit(at now: MonotonicTime) -> ActivitySlot {
        // An activity that is added during the lap reports by itself when it is due.
        if cursor == 0 { lapDeadline = now.advanced(byNanoseconds: renewAge) }
        defer { cursor += 1 }
        return ActivitySlot(UInt32(cursor))
    }

    /// Ends the visit of one slot.
    ///
    /// - Parameter due: the moment at which the visited activity is due next; `nil` for never.
    /// - Returns: whether the pass goes on.
    mutating func endVisit(due: MonotonicTime?, at now: MonotonicTime) -> Bool {
        if let due { expect(due) }
        visitsLeft -= 1
        guard cursor >= slots else { return true }
        cursor = 0
        if lapDeadline > now { visitsLeft = 0 }
        return lapDeadline <= now
    }

    /// Returns the moment for the next pass; `nil` while there are no activities.
    func nextPass(hasActivities: Bool, at now: MonotonicTime) -> MonotonicTime? {
        // The remaining visits follow in the next turn, not in this one.
        if visitsLeft > 0 { return now.advanced(byNanoseconds: 1) }
        let next = now.advanced(byNanoseconds: step)
        if cursor > 0 { return next }
        return hasActivities ? max(next, lapDeadline) : nil
    }

    func violation(hasActivities: Bool, slots: Int) -> String? {
        guard timer != nil || !hasActivities && cursor == 0 else { return "nobody looks for old activities" }
        guard cursor < max(1, slots) else { return "the scan for old activities stands at \(cursor) of \(slots)" }
        return nil
    }
}
