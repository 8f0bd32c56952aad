/// A cursor that goes round over the shard's activities to find those whose age asks for something, and sleeps while there are none.
///
/// A lap has 300 steps. Within a lap the cursor takes a step at a time; after it, it sleeps until the earliest moment at which an
/// activity of that lap, or one that has come since, is due. So nothing is kept for a scan but the second at which each activity
/// began. All times are monotonic nanoseconds, or spans of them.
struct AgeScanner {
    /// The timer that starts the next pass. One stands while there are activities.
    struct Timer {
        let due: Int64
        let entry: TimingWheel.Entry
    }

    /// Of a lifetime, as fractions: how long before its end a renewal starts and an end leaves (30 and 10 minutes of eight hours), and
    /// a lap (5 minutes). A person may take a while to allow the new card its updates; and an end may have to wait for the network.
    private static let renewsAhead: Int64 = 16
    private static let endsAhead: Int64 = 48
    private static let lap: Int64 = 96
    private static let steps: Int64 = 300
    /// In one pass, which is a millisecond then, or some where all of them are to end.
    static let visitsMax = 4096

    /// How long an activity may last.
    let lifetime: Int64
    private(set) var timer: Timer?
    /// The slot that the cursor comes to next.
    private var cursor = 0
    /// When the next one of this lap's activities is due.
    private var lapDeadline: Int64 = 0
    /// Visits that the time asks for and that are still to be made.
    private var owed = 0

    init(lifetime: Int64) { self.lifetime = lifetime }

    var renewAge: Int64 { lifetime - lifetime / AgeScanner.renewsAhead }
    var endAge: Int64 { lifetime - lifetime / AgeScanner.endsAhead }
    private var step: Int64 { max(1, lifetime / AgeScanner.lap / AgeScanner.steps) }

    // MARK: The timer

    /// Whether a pass at `due` needs a timer: none stands that fires by then.
    func needsTimer(at due: Int64) -> Bool { timer.map { due < $0.due } ?? true }

    /// - Parameter timer: takes the place of one that has been cancelled.
    mutating func set(_ timer: Timer) { self.timer = timer }

    /// An activity may be due sooner than the lap's others, wherever the cursor is: the timer is needed by then.
    mutating func expect(_ due: Int64) { lapDeadline = min(lapDeadline, due) }

    /// An activity is due now that the cursor may have passed in this lap: the next one follows right after it.
    mutating func revisit(at now: Int64) { lapDeadline = now }

    // MARK: A pass

    /// The timer has fired.
    ///
    /// - Parameter slots: how many there are.
    /// - Returns: how many of them to visit at most: as many as the time since the timer was due asks for, no more than a lap, and of
    ///   those as many as one pass may.
    mutating func beginPass(over slots: Int, at now: Int64) -> Int {
        guard let due = timer.take()?.due else { return 0 }
        // A pass that was cut goes on with what it has left.
        let steps = Int(min(AgeScanner.steps, (now - due) / step + (owed > 0 ? 0 : 1)))
        owed = min(slots, owed + steps * (slots / Int(AgeScanner.steps) + 1))
        return min(owed, AgeScanner.visitsMax)
    }

    /// - Returns: the slot whose turn it is.
    mutating func nextVisit(at now: Int64) -> ActivitySlot {
        // An activity that comes while the lap lasts says itself when it is due.
        if cursor == 0 { lapDeadline = now + renewAge }
        defer { cursor += 1 }
        return ActivitySlot(UInt32(cursor))
    }

    /// - Parameters:
    ///   - due: when the activity that was visited is due next; `nil`: never.
    ///   - slots: how many there are by now.
    /// - Returns: whether the pass goes on.
    mutating func endVisit(due: Int64?, slots: Int, at now: Int64) -> Bool {
        if let due { expect(due) }
        owed -= 1
        guard cursor >= slots else { return true }
        cursor = 0
        if lapDeadline > now { owed = 0 }
        return lapDeadline <= now
    }

    /// - Returns: when the next pass is wanted; `nil` while there are no activities.
    func nextPass(hasActivities: Bool, at now: Int64) -> Int64? {
        // Not in this turn, but in the next one.
        if owed > 0 { return now + 1 }
        if cursor > 0 { return now + step }
        return hasActivities ? max(now + step, lapDeadline) : nil
    }

    func violation(hasActivities: Bool, slots: Int) -> String? {
        guard timer != nil || !hasActivities && cursor == 0 else { return "nobody looks for old activities" }
        guard cursor < max(1, slots) else { return "the scan for old activities stands at \(cursor) of \(slots)" }
        return nil
    }
}
