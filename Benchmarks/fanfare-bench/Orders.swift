import CFanfareBench
import Fanfare
import FanfareDecisions
import FanfareFanOut
import FanfareLoop
import FanfareModel
import FanfareQueues

/// A rush of orders with one follower each, through the whole engine into a transport that takes every push at once: the core on the
/// calling thread, one shard on another. Events are made here, so reading them costs nothing.
enum Orders {
    /// Prints one JSON object, of orders that know patches alone, or of deliveries with their alerts, words and last states: pushes per
    /// second of the clock, processor time per push, and bytes per order that lives, beside the bytes of its state and of its
    /// follower's token; and how long after an event its push left, at ten thousand events a second.
    static func report(orders: Int, plain: Bool) {
        let before = bench_resident_bytes()
        // A benchmark without its engine has nothing to say, and nobody to say it to but whoever started it.
        do {
            let rush = try Rush(orders: orders, script: plain ? .plain : .delivery)
            rush.run()
            let beside = Int64(rush.tokenBytes + rush.stateBytes)
            print(
                """
                {"orders": \(orders), "pushes": \(rush.pushes), \
                "pushed": \(Int(Double(rush.pushes) / rush.seconds)), "cpu_ns": \(Int(rush.processorSeconds * 1e9) / rush.pushes), \
                "bytes": \((rush.residentBytes - before - beside) / Int64(orders)), \
                "latency_median_us": \(rush.latency(0.5)), "latency_p99_us": \(rush.latency(0.99)), \
                "latency_max_us": \(rush.latency(1))}
                """)
        } catch { fatalError("fanfare-bench: \(error)") }
    }
}

/// What an order's feed says, one change after the other, each of which people see.
private struct Script {
    let kind: TopicKind
    let change: @Sendable (_ order: Int, _ step: Int) -> JSONObject

    static let steps = 8
    private static let words = [
        "placed", "preparing", "ready", "outForDelivery", "outForDelivery", "outForDelivery", "arriving", "delivered",
    ]

    static let plain = Script(kind: .generic) { order, step in
        step == 0
            ? ["number": .int(Int64(order)), "shop": "Burger & Söhne", "status": "placed", "stopsBefore": 9]
            : ["status": .string(words[step % steps]), "stopsBefore": .int(Int64(9 - step))]
    }

    static let delivery = Script(kind: .delivery) { order, step in
        switch step {
        case 0: ["number": .int(Int64(order)), "shop": "Burger & Söhne", "status": "placed", "stopsBefore": 9]
        case 2: ["status": "ready", "courier": "Ana Kovac"]
        case 3: ["status": "outForDelivery", "stopsBefore": 3]
        case 4...5: ["stopsBefore": .int(Int64(6 - step))]
        // After the rush: it stays on its way for as long as anybody likes.
        case steps...: ["stopsBefore": .int(Int64(step))]
        default: ["status": .string(words[step])]
        }
    }
}

/// One follower of each topic.
private struct OneEach: InitialActivities {
    let topics: [TopicID]

    func room(at place: ShardPlace) -> Int { topics.count }

    func read(at place: ShardPlace, _ take: (ShardCommand) -> Void) {
        for (number, topic) in topics.enumerated() {
            let token = Fleet.token(UInt64(number))
            take(.follow(ActivityID(UInt64(number).mixed), .topic(topic), token: token))
        }
    }
}

/// Confined to the thread that calls `run`, but for `Board`.
private final class Rush: EngineCoreDelegate {
    private let orders: Int
    private let script: Script
    private let board: Board
    private let loop: Loop
    private var core: EngineCore!  // set in `init`
    private var again: Wakeup!  // set in `init`
    private var pacing: LoopTimer?
    private let ids: [TopicID]
    /// Of the event that comes next, from the first of the rush.
    private var next = 0
    private var pauseAt: Int
    private var startedAt: (clock: Int64, processor: Int64) = (0, 0)

    private(set) var seconds = 0.0
    private(set) var processorSeconds = 0.0
    /// With all orders alive.
    private(set) var residentBytes: Int64 = 0
    private(set) var pushes = 0
    let tokenBytes: Int
    private(set) var stateBytes = 0

    private static let eventsPerTurn = 512
    private static let evening: Int64 = 1_781_283_600_000
    /// An order's change comes a minute after the one before.
    private static let stepMilliseconds: Int64 = 60_000
    /// Orders beside those of the rush, which live while the latency is measured.
    private static let paced = 10_000
    private static let pacedPerSecond = 10_000
    private static let pacedSeconds = 5

    init(orders: Int, script: Script) throws {
        self.orders = orders
        self.script = script
        let all = orders + Rush.paced
        ids = (0..<all).map { TopicID("order/\(5001 + $0)") }
        tokenBytes = (0..<all).reduce(0) { $0 + Fleet.token(UInt64($1)).count }
        board = Board(orders: all)
        pauseAt = orders * (Script.steps / 2)
        loop = try Loop()
        again = try Wakeup(loop: loop) { [unowned self] in step() }
        core = try EngineCore(
            loop: loop, shards: 1,
            makeTransports: [
                { [board] loop, source, context in
                    try WatchedTransport(loop, source, context.clock) { board.note($0, at: $1) }
                }
            ],
            activities: OneEach(topics: ids), isLive: true)
        core.delegate = self
    }

    func run() {
        loop.run()
        core.stop()
        loop.close()
    }

    /// Microseconds, of this share of the pushes.
    func latency(_ share: Double) -> Int64 { (board.latency.nanoseconds(at: share) ?? 0) / 1000 }

    // MARK: The rush

    func coreDidBecomeReady() {
        startedAt = (Clock.monotonicNanoseconds(), Clock.processCPUNanoseconds())
        step()
    }

    func coreDidRelieve() { if next < orders * Script.steps { step() } }

    func coreDidRecord(_ record: DecisionRecord, of publication: Publication?) {
        if let publication, next / orders == Script.steps / 2 - 1 { stateBytes += publication.state.bytes.count }
    }

    private func step() {
        for _ in 0..<Rush.eventsPerTurn {
            if core.isCongested { return }
            guard next < pauseAt else { return core.settle { [unowned self] _ in pause() } }
            let (step, order) = next.quotientAndRemainder(dividingBy: orders)
            send(
                order, step,
                at: Int64(step) * Rush.stepMilliseconds + Rush.stepMilliseconds * Int64(order) / Int64(orders))
            next += 1
        }
        again.signal.signal()
    }

    /// Everybody has what was sent: in the middle of the rush, and at its end.
    private func pause() {
        let now = (clock: Clock.monotonicNanoseconds(), processor: Clock.processCPUNanoseconds())
        seconds += Double(now.clock - startedAt.clock) / 1e9
        processorSeconds += Double(now.processor - startedAt.processor) / 1e9
        pushes = board.pushes
        guard next < orders * Script.steps else { return pace() }
        residentBytes = bench_resident_bytes()
        pauseAt = orders * Script.steps
        startedAt = (Clock.monotonicNanoseconds(), Clock.processCPUNanoseconds())
        step()
    }

    private func send(_ order: Int, _ step: Int, at milliseconds: Int64) {
        let at = FeedTime(milliseconds: Rush.evening + milliseconds)
        core.apply(
            FeedEvent(
                topic: ids[order], topicKind: step == 0 ? script.kind : nil, at: at, seq: UInt64(step + 1),
                kind: "patch",
                change: .patch(script.change(order, step))),
            now: at)
    }

    // MARK: At a pace

    /// Ten events each millisecond, of an order each.
    private func pace() {
        precondition(pushes == orders * Script.steps, "\(pushes) pushes of \(orders) orders")
        for order in orders..<ids.count { send(order, 0, at: Rush.stepMilliseconds * Int64(Script.steps)) }
        let started = Clock.monotonicNanoseconds() + 1_000_000_000
        var sent = 0
        pacing = LoopTimer(loop: loop) { [unowned self] in
            let due = (Clock.monotonicNanoseconds() - started) * Int64(Rush.pacedPerSecond) / 1_000_000_000
            while sent < min(Int(due), Rush.pacedPerSecond * Rush.pacedSeconds) {
                let order = orders + sent % Rush.paced
                let round = sent / Rush.paced + Script.steps + 1
                board.note(order, at: Clock.monotonicNanoseconds())
                send(order, round, at: Rush.stepMilliseconds * Int64(round))
                sent += 1
            }
            guard sent == Rush.pacedPerSecond * Rush.pacedSeconds else { return }
            pacing?.stop()
            core.settle { [unowned self] _ in loop.stop() }
        }
        pacing?.start(after: .milliseconds(1000), repeating: .milliseconds(1))
    }
}

/// When the event of each order came, which the core writes before it sends it on, and the shard reads when the push leaves: the ring
/// between them orders the two.
private final class Board: @unchecked Sendable {
    private let sentAt: UnsafeMutablePointer<Int64>
    private let orders: Int
    // Written by the shard's thread; read when everybody has everything, or that thread has ended.
    private(set) var pushes = 0
    private(set) var latency = Histogram()
    private var checksum: UInt64 = 0

    init(orders: Int) {
        self.orders = orders
        sentAt = .allocate(capacity: orders)
        sentAt.initialize(repeating: 0, count: orders)
    }

    deinit { sentAt.deallocate() }

    func note(_ order: Int, at now: Int64) { sentAt[order] = now }

    func note(_ batch: DeliveryBatch, at now: Int64) {
        pushes += batch.deliveries.count
        checksum &+= batch.tokenSum
        for delivery in batch.deliveries {
            // Slots are given out in the order in which followers were loaded.
            let order = Int(delivery.slot.rawValue)
            guard order < orders, sentAt[order] > 0 else { continue }
            latency.record(now - sentAt[order])
        }
    }
}
