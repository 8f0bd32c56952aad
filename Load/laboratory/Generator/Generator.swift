import FanfareFanOut
import FanfareLoop
import FanfareModel
import FanfareQueues
import Glibc
import Synchronization

/// An arrival, as the generator's thread hands it to the core's.
enum LoadInput: Sendable {
    case event(FeedEvent, planned: Int64, Occasion?)
    case follow(subscriber: Int)
    case unfollow(subscriber: Int)
    case rotate(subscriber: Int, planned: Int64)

    var event: FeedEvent? { if case .event(let event, _, _) = self { event } else { nil } }
}

/// Runs a `Dispatcher` on a thread of its own, so that a busy engine does not delay what arrives.
final class Generator {
    /// Read when the thread has ended.
    struct Report: Sendable {
        var lateness = LatencyHistogram()
        /// Seconds for which the engine had no room.
        var fullSeconds = 0.0
        /// Arrivals that nobody has taken.
        var left = 0
        var cpuSeconds = 0.0
    }

    private final class Shared: Sendable {
        let isToStop = Atomic(false)
        let isOver = Atomic(false)
        let report = Locked(Report())
    }

    private let thread: LoopThread
    private let shared = Shared()
    private var inputs: RingConsumer<LoadInput>

    /// As small as a burst allows: a ring takes new memory until it has gone round once, which must not look like growth in a soak.
    static let inputsMax = 1 << 13

    /// - Parameters:
    ///   - start: monotonic nanoseconds of the schedule's start; `wall`: Unix milliseconds of the same moment, for the events' times.
    ///   - wake: called when inputs wait.
    init(
        _ schedule: Schedule, _ script: FeedScript, start: Int64, wall: Int64, wake: @escaping @Sendable () -> Void
    ) throws {
        let ring = OneToOneRing<LoadInput>(capacity: Generator.inputsMax)
        inputs = ring.takeConsumer()
        let shared = shared
        thread = try LoopThread(name: "generator") { _ in
            let work = Work(schedule, script, start: start, wall: wall)
            work.run(into: ring, shared.isToStop, wake)
            shared.report.withLock { $0 = work.report }
            shared.isOver.store(true, ordering: .releasing)
            wake()
        }
    }

    /// Hands at most `limit` inputs to `take`.
    func drain(limit: Int, _ take: (consuming LoadInput) -> Void) -> Int { inputs.drain(limit: limit, take) }

    /// Is `true` when nothing more will come than what waits.
    var isOver: Bool { shared.isOver.load(ordering: .acquiring) }
    var isEmpty: Bool { inputs.isEmpty }
    var waiting: Int { inputs.count }

    /// Ends the thread.
    func stop() -> Report {
        shared.isToStop.store(true, ordering: .relaxed)
        thread.join()
        var report = shared.report.withLock { $0 }
        // Nobody has taken what still waits.
        report.left += waiting
        return report
    }

    /// The thread's own state.
    private final class Work {
        private var dispatcher: Dispatcher
        private var script: FeedScript
        private let recorded: [FeedEvent]
        private let start: Int64
        private let wall: Int64
        private(set) var report = Report()

        /// Longest sleep, after which the thread looks whether it is to stop.
        private static let sleepMax: Int64 = 50_000_000
        private static let retryAfter: Int64 = 200_000

        init(_ schedule: Schedule, _ script: FeedScript, start: Int64, wall: Int64) {
            dispatcher = Dispatcher(schedule, start: start)
            self.script = script
            recorded = schedule.recorded
            self.start = start
            self.wall = wall
        }

        func run(
            into ring: OneToOneRing<LoadInput>, _ isToStop: borrowing Atomic<Bool>, _ wake: () -> Void
        ) {
            var producer = ring.takeProducer()
            // An input that found no room.
            var kept: LoadInput?
            while !isToStop.load(ordering: .relaxed) {
                let next = dispatcher.run(clock: Clock.monotonicNanoseconds) { arrival in
                    let input = kept.take() ?? input(arrival)
                    guard producer.tryPush(input) else {
                        kept = input
                        return false
                    }
                    // The signal costs one exchange while an earlier one is pending.
                    wake()
                    return true
                }
                switch next {
                case .over: return finish()
                case .room: Work.sleep(Work.retryAfter)
                case .at(let moment): Work.sleep(min(moment - Clock.monotonicNanoseconds(), Work.sleepMax))
                }
            }
            finish()
        }

        private func finish() {
            report.lateness = dispatcher.lateness
            report.fullSeconds = Double(dispatcher.full) / 1e9
            report.left = dispatcher.left
            report.cpuSeconds = Double(ProcessReadings.cpuNanosecondsOfThread()) / 1e9
        }

        private func input(_ arrival: Schedule.Arrival) -> LoadInput {
            let planned = start + arrival.planned
            switch arrival.action {
            case .event(let occasion, let topic):
                let at = FeedTime(milliseconds: wall + arrival.planned / 1_000_000)
                return .event(script.event(occasion, topic: topic, at: at), planned: planned, occasion)
            case .recorded(let index):
                // The engine judges an event's age by its time, and a recording's is years old.
                var event = recorded[Int(index)]
                event.at = FeedTime(milliseconds: wall + arrival.planned / 1_000_000)
                if case .fact(let fact) = event.change { event.change = .fact(fact.dated(event.at)) }
                return .event(event, planned: planned, nil)
            case .follow(let subscriber): return .follow(subscriber: Int(subscriber))
            case .unfollow(let subscriber): return .unfollow(subscriber: Int(subscriber))
            case .rotate(let subscriber): return .rotate(subscriber: Int(subscriber), planned: arrival.planned)
            }
        }

        /// Blocks the generator's own thread, which has no loop: libuv's timers count milliseconds, and arrivals are planned to the
        /// nanosecond.
        private static func sleep(_ nanoseconds: Int64) {
            guard nanoseconds > 0 else { return }
            var time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
            nanosleep(&time, nil)
        }
    }
}
