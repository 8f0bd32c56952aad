package import FanfareFanOut
package import FanfareModel
import Synchronization

/// Stands between a shard and its transport and measures every push against the planned moment of its cause. It changes nothing, unless
/// processor time is to be wasted (`waste`).
///
/// Each push is told by the serial in its payload, and each answer by its slot. The cost of a push is two or three accesses to arrays;
/// histograms are written once for each run of equal pushes. Confined to the shard's thread, but for `readings`.
package final class Probe: DeliverySource {
    private unowned let source: any DeliverySource
    private let table: PublicationTable
    private let plan: ProbePlan
    private let clock: () -> Int64
    let slots: SlotMarks
    private var total: ProbeReading
    private var interval = ProbeReading.Interval()
    /// Index of the running interval; negative before the measurement.
    private var second = -1
    private var costs = PushCosts()
    /// Called once, when the measurement begins and before the transport writes any push of it.
    var onBegin: (() -> Void)?
    /// Bytes that the transport had written at the last look.
    private var bytesSeen = 0
    /// Monotonic nanoseconds of the first accepted push; `nil` before it.
    private(set) var firstAccepted: Int64?
    var waste = PushWaste()

    /// - Parameters:
    ///   - slotsMax: slots that the shard may use; pushes to further ones are not measured, and are counted as such.
    ///   - marks: what an earlier probe knew of the same slots.
    package init(
        _ source: any DeliverySource, _ table: PublicationTable, _ plan: ProbePlan, slotsMax: Int,
        marks: SlotMarks? = nil, clock: @escaping () -> Int64
    ) {
        self.source = source
        self.table = table
        self.plan = plan
        self.clock = clock
        slots = marks ?? SlotMarks(slotsMax, memory: plan.memory)
        total = ProbeReading(goals: plan.goals)
        total.firsts = Array(repeating: 0, count: table.capacity + 1)
    }

    package var demand: Int { source.demand }
    package func mayHavePushes(at moment: Moment) -> Bool { source.mayHavePushes(at: moment) }

    package func pullByLot(_ random: UInt64, at moment: Moment, into batch: inout DeliveryBatch) {
        let start = batch.deliveries.count
        source.pullByLot(random, at: moment, into: &batch)
        note(from: start, in: batch)
    }

    package func pull(limit: Int, at moment: Moment, into batch: inout DeliveryBatch) {
        let start = batch.deliveries.count
        source.pull(limit: limit, at: moment, into: &batch)
        note(from: start, in: batch)
    }

    private func note(from start: Int, in batch: DeliveryBatch) {
        guard batch.deliveries.count > start else { return }
        let now = clock()
        roll(to: now)
        var position = start
        while position < batch.deliveries.count {
            let run = batch.run(from: position)
            let payload = batch.payload(of: batch.deliveries[position])
            noteLeft(run, payload.serial, in: batch, at: now)
            if second >= 0 { total.stateBytes += run.count * payload.state.count }
            position = run.upperBound
        }
        interval.sent += batch.deliveries.count - start
        if second >= 0 { total.own += clock() - now }
        waste.spend(batch.deliveries.count - start, spin: ProcessReadings.spin)
        if second >= 0 { costs.note(batch.deliveries.count - start, cpu: ProcessReadings.cpuNanosecondsOfThread) }
    }

    private func noteLeft(_ run: Range<Int>, _ serial: UInt64, in batch: DeliveryBatch, at now: Int64) {
        let row = table[serial]
        // A lineup shows a change in its row, and brings it into the spotlight later, perhaps after all have had it: that is no news.
        // The end of a card that nobody follows any more is of no publication.
        let mark =
            serial == 0
            ? SlotMarks.cardEnd : table.isFinished(serial) ? SlotMarks.noNews : UInt32(truncatingIfNeeded: serial)
        var news = 0
        for index in run {
            let delivery = batch.deliveries[index]
            guard delivery.slot.rawValue < slots.count else {
                total.untracked += 1
                continue
            }
            if slots.isNewTenant(delivery) {
                let subscriber = Population.subscriber(of: batch.tokens[delivery.token])
                if subscriber >= plan.population.initial {
                    slots.sends(SlotMarks.follow(subscriber - plan.population.initial), to: delivery)
                    continue
                }
            }
            if slots.sends(mark, to: delivery) { news += 1 }
        }
        guard news > 0, row.isMeasured else { return }
        record(.left, row, nanoseconds: now - row.planned, times: news)
        record(.age, row, nanoseconds: now - row.decided, times: news)
        if total.firsts[Int(serial)] == 0 { total.firsts[Int(serial)] = now }
    }

    package func complete(_ completions: [DeliveryCompletion], at moment: Moment) {
        let now = clock()
        roll(to: now)
        var run: (serial: UInt32, before: UInt32, count: Int) = (0, 0, 0)
        for completion in completions where completion.outcome == .accepted && completion.slot.rawValue < slots.count {
            interval.accepted += 1
            if firstAccepted == nil { firstAccepted = now }
            var (serial, before) = slots.accepts(completion)
            if serial == SlotMarks.cardEnd {
                if second >= 0 { total.ends += 1 }
                serial = SlotMarks.noNews
            } else if serial == SlotMarks.noNews, second >= 0 {
                total.repeated += 1
            }
            if serial != run.serial || before != run.before {
                noteAccepted(run.serial, after: run.before, times: run.count, at: now)
                run = (serial, before, 0)
            }
            run.count += 1
        }
        noteAccepted(run.serial, after: run.before, times: run.count, at: now)
        if second >= 0 { total.own += clock() - now }
        source.complete(completions, at: moment)
    }

    /// - Parameter before: serial that the activities had accepted before this one.
    private func noteAccepted(_ serial: UInt32, after before: UInt32, times: Int, at now: Int64) {
        guard serial != 0, times > 0 else { return }
        if let number = SlotMarks.follow(of: serial) {
            guard number < plan.followsAt.count, plan.followsAt[number] >= plan.measured.lowerBound else { return }
            let took = now - plan.start.moment - plan.followsAt[number]
            total.follow.record(nanoseconds: took, times: times)
            interval.follow.record(nanoseconds: took, times: times)
            return
        }
        let row = table[UInt64(serial)]
        if row.isMeasured { record(.accepted, row, nanoseconds: now - row.planned, times: times) }
        noteReached(serial, after: before, times: times, at: now)
    }

    /// Counts the publications that this one has overtaken as reached: without them the percentiles would lack the longest waits.
    private func noteReached(_ serial: UInt32, after before: UInt32, times: Int, at now: Int64) {
        var serial = serial
        repeat {
            let row = table[UInt64(serial)]
            if row.isMeasured {
                let took = now - row.planned
                record(.reached, row, nanoseconds: took, times: times)
                if row.goal > 0 { total.goals[Int(row.goal) - 1].record(nanoseconds: took, times: times) }
            }
            serial = row.previous
        } while serial > before
    }

    private func record(_ stage: Stage, _ row: PublicationTable.Row, nanoseconds: Int64, times: Int) {
        total.stages.record(stage, row, nanoseconds: nanoseconds, times: times)
        interval.stages.record(stage, row, nanoseconds: nanoseconds, times: times)
    }

    // MARK: Seconds

    /// Puts finished seconds on the shelf.
    package func roll(to now: Int64) {
        let measured = now - plan.start.moment - plan.measured.lowerBound
        let current = measured < 0 ? -1 : Int(measured / 1_000_000_000)
        guard current > second else { return }
        // Pushes sent before the measurement belong to no second.
        if second >= 0 { plan.shelf.put(interval, second: second) } else { onBegin?() }
        interval = ProbeReading.Interval()
        second = current
    }

    /// Notes how late a timer of the shard's loop fired: no turn since was longer.
    package func noteTurn(_ nanoseconds: Int64) { interval.longestTurn = max(interval.longestTurn, nanoseconds) }

    /// Bytes of memory that the probe takes for itself, all of them from its beginning on.
    var ownBytes: Int { total.firsts.count * MemoryLayout<Int64>.stride + slots.bytes }

    /// Bytes of content states of the measurement.
    var stateBytes: Int { total.stateBytes }

    /// - Parameter total: bytes that the transport has written so far.
    func noteBytes(_ total: Int) {
        interval.bytes += max(0, total - bytesSeen)
        bytesSeen = total
    }

    /// Returns everything measured. Called when the shard's thread has ended, or on it.
    package func finish() -> ProbeReading {
        if second >= 0 { plan.shelf.put(interval, second: second) }
        interval = ProbeReading.Interval()
        total.costs = costs.histogram
        return total
    }
}

/// Settings that all probes of a run share.
package struct ProbePlan: Sendable {
    package var population: Population
    /// Planned moments of the follows in nanoseconds from the schedule's start, and the measured part of it.
    package var followsAt: [Int64]
    package var measured: Range<Int64>
    /// Planned goals of the measurement.
    package var goals: Int
    /// Accepted publications that each slot remembers.
    package var memory: Int
    package var start: ScheduleStart
    package var shelf: ReadingShelf

    package init(_ schedule: Schedule, population: Population, start: ScheduleStart, shelf: ReadingShelf) {
        self.population = population
        // A lineup's spotlight returns to each of its topics; a topic's newest publication does not return.
        memory = population.topicsMax
        followsAt = schedule.followsAt
        measured = schedule.measured
        goals = schedule.plannedGoals
        self.start = start
        self.shelf = shelf
    }
}

/// The moment at which a schedule starts. Shards have their probes and transports before it is known. Any thread.
package final class ScheduleStart: Sendable {
    private let nanoseconds = Atomic(ScheduleStart.unknown)
    /// Far ahead of every clock; no sum with a scenario's times overflows.
    private static let unknown = Int64.max / 2

    package init() {}

    /// Monotonic nanoseconds; far ahead while the start is not known.
    package var moment: Int64 { nanoseconds.load(ordering: .relaxed) }
    package func set(_ moment: Int64) { nanoseconds.store(moment, ordering: .relaxed) }
}

/// A probe's knowledge of each slot: its tenant, the publication on its way, and those accepted last. Numbers of 32 bits, because there are
/// millions of slots.
///
/// `Sendable` is unchecked because one probe at a time has it: the thread of a former one has ended.
package final class SlotMarks: @unchecked Sendable {
    fileprivate let count: Int
    /// Accepted publications that a slot remembers.
    private let memory: Int
    private let tenants: UnsafeMutablePointer<UInt32>
    private let sending: UnsafeMutablePointer<UInt32>
    /// Each slot's accepted publications, the newest answer first.
    private let accepted: UnsafeMutablePointer<UInt32>

    /// Mark of a push that brings nothing that its activity lacks; no publication has it.
    fileprivate static let noNews: UInt32 = 0
    /// Mark of the end of a card after its unfollow. No run has so many publications that one has this serial.
    fileprivate static let cardEnd: UInt32 = followBit - 1
    private static let followBit: UInt32 = 1 << 31
    private static let noTenant = UInt32.max

    fileprivate init(_ count: Int, memory: Int) {
        self.count = count
        self.memory = memory
        func marks(_ value: UInt32, _ count: Int) -> UnsafeMutablePointer<UInt32> {
            let marks = UnsafeMutablePointer<UInt32>.allocate(capacity: count)
            marks.initialize(repeating: value, count: count)
            return marks
        }
        tenants = marks(SlotMarks.noTenant, count)
        sending = marks(0, count)
        accepted = marks(0, count * memory)
    }

    fileprivate var bytes: Int { (2 + memory) * count * MemoryLayout<UInt32>.stride }

    deinit {
        for marks in [tenants, sending, accepted] { marks.deallocate() }
    }

    /// Mark of the first push to an activity that has followed.
    fileprivate static func follow(_ number: Int) -> UInt32 { followBit | UInt32(truncatingIfNeeded: number) }
    fileprivate static func follow(of mark: UInt32) -> Int? { mark & followBit != 0 ? Int(mark & ~followBit) : nil }

    /// A generation counts tenants in steps of 256, and a tenant's waits between two of them (`Activity.generation`).
    private static func tenant(_ generation: UInt32) -> UInt32 { generation >> 8 }

    /// Is `true` once for each tenant of a slot.
    fileprivate func isNewTenant(_ delivery: Delivery) -> Bool {
        let slot = Int(delivery.slot.rawValue)
        let tenant = SlotMarks.tenant(delivery.generation)
        guard tenants[slot] != tenant else { return false }
        tenants[slot] = tenant
        sending[slot] = 0
        for place in slot * memory..<(slot + 1) * memory { accepted[place] = 0 }
        return true
    }

    private func hasAccepted(_ mark: UInt32, _ slot: Int) -> Bool {
        (slot * memory..<(slot + 1) * memory).contains { accepted[$0] == mark }
    }

    /// - Returns: `true` unless the push is a repeat of one that was sent before.
    @discardableResult
    fileprivate func sends(_ mark: UInt32, to delivery: Delivery) -> Bool {
        let slot = Int(delivery.slot.rawValue)
        // The first push of a tenant that has followed stays its first until it is accepted.
        if SlotMarks.follow(of: sending[slot]) != nil { return false }
        let isRepeat = mark == SlotMarks.noNews || hasAccepted(mark, slot)
        let isNews = sending[slot] != mark && !isRepeat
        sending[slot] = isRepeat ? SlotMarks.noNews : mark
        return isNews
    }

    /// - Returns: mark of the push, 0 for a repeat of what was accepted before; and the serial that the slot had accepted before it. The marks of
    ///   a lineup are those of several topics, and that of a joiner's first push is no serial: nothing lies between them and the next one.
    fileprivate func accepts(_ completion: DeliveryCompletion) -> (mark: UInt32, before: UInt32) {
        let slot = Int(completion.slot.rawValue)
        guard tenants[slot] == SlotMarks.tenant(completion.generation), sending[slot] != 0 else { return (0, 0) }
        let mark = sending[slot]
        let newest = slot * memory
        let before = memory > 1 ? mark : accepted[newest]
        for place in stride(from: newest + memory - 1, to: newest, by: -1) { accepted[place] = accepted[place - 1] }
        accepted[newest] = mark
        sending[slot] = 0
        return (mark, before)
    }
}
