import FanfareDecisions
import FanfareFanOut
import FanfareLog
import FanfareLoop
import FanfareModel
import FanfareTestSupport

@testable import Fanfare

/// Engine of two apps on a store's folder. Its wall clock begins at a given time, and its network keeps all pushes.
final class GoldenEngine: Sendable {
    static let apps = [
        AppID(bundleID: "com.example.one"), AppID(bundleID: "com.example.two", environment: .development),
    ]

    let engine: Engine
    /// Set for a network that answers no further push.
    let holds: Flag
    private let network: Network
    private let lines: Locked<[String]>
    private let fates: Locked<[String]>

    init(store: String, rules: Rules, at start: FeedTime) throws {
        let (network, holds) = (Network(), Flag())
        let (lines, fates) = (Locked<[String]>([]), Locked<[String]>([]))
        var options = Engine.Options(transport: .discard, store: .folder(store))
        options.rules = rules
        options.clock = GoldenEngine.clock(from: start)
        var observer = Engine.Observer()
        observer.onReport = { line in lines.withLock { $0.append(line) } }
        observer.onActivityEvent = { event in
            fates.withLock { $0.append("\(event.activity.text ?? "an activity without a text"): \(event.fate)") }
        }
        let transports = GoldenEngine.apps.indices.map { app -> TransportFactory in
            { _, source, context in KeepingTransport(source, app: app, context.clock, network, holds) }
        }
        engine = try Engine(options, observer: observer, apps: GoldenEngine.apps, makeTransports: transports)
        self.holds = holds
        self.network = network
        self.lines = lines
        self.fates = fates
    }

    /// Returns a clock that begins at a time and goes as the system's does.
    private static func clock(from start: FeedTime) -> ClockSource {
        let system = ClockSource.system
        let offset = start - system.wall()
        return ClockSource(wall: { system.wall() + offset }, monotonic: system.monotonic)
    }

    /// Reports for operators in alphabetical order. How long a loading takes depends on the machine.
    var reports: [String] {
        lines.withLock { $0 }.filter { !$0.hasPrefix("all people of the store are loaded") }.sorted()
    }

    /// Fates of activities in alphabetical order.
    var toldFates: [String] { fates.withLock { $0 }.sorted() }

    /// Number of pushes with an alert since the last `takePhones`.
    var alerts: Int { network.pushes.withLock { $0.count { $0.alert != nil } } }

    /// Removes the pushes, and returns a line for each phone that got some: events, alerts, and the newest state.
    func takePhones() -> [String] {
        let taken = network.pushes.withLock { pushes in
            defer { pushes = [] }
            return pushes
        }
        let phones = Dictionary(grouping: taken) { "app \($0.app), token \(GoldenStoreText.hex($0.token))" }
        return phones.sorted { $0.key < $1.key }.map { phone, pushes in
            let events = pushes.map { "\($0.event)" }.joined(separator: ", ")
            let alerts = pushes.compactMap(\.alert).joined(separator: ", ")
            return "\(phone): \(events); alerts: \(alerts); \(pushes.last?.state ?? "")"
        }
    }

    struct Push: Sendable {
        let app: Int
        let token: [UInt8]
        let event: Payload.Event
        let alert: String?
        let state: String
    }

    /// Pushes that the network has taken.
    final class Network: Sendable {
        let pushes = Locked<[Push]>([])
    }
}

/// Keeps all pushes, and answers each at once until it is told to hold.
private final class KeepingTransport: Transport {
    private unowned let source: any DeliverySource
    private let app: Int
    private let clock: () -> Moment
    private let network: GoldenEngine.Network
    private let holds: Flag
    private var batch = DeliveryBatch()

    init(
        _ source: any DeliverySource, app: Int, _ clock: @escaping () -> Moment, _ network: GoldenEngine.Network,
        _ holds: Flag
    ) {
        self.source = source
        self.app = app
        self.clock = clock
        self.network = network
        self.holds = holds
    }

    var isReady: Bool { true }

    func workAvailable() {
        while true {
            let moment = clock()
            source.pull(limit: 64, at: moment, into: &batch)
            if batch.deliveries.isEmpty { return }
            let completions = batch.deliveries.map { delivery in
                let payload = batch.payload(of: delivery)
                let push = GoldenEngine.Push(
                    app: app, token: Array(batch.tokens[delivery.token]), event: payload.event,
                    alert: payload.alert.map { "\($0.title)" }, state: String(decoding: payload.state, as: UTF8.self))
                network.pushes.withLock { $0.append(push) }
                return DeliveryCompletion(slot: delivery.slot, generation: delivery.generation, outcome: .accepted)
            }
            batch.removeAll()
            if !holds.isSet { source.complete(completions, at: moment) }
        }
    }

    /// A network that holds its answers does not close, either.
    func close(_ closed: @escaping () -> Void) { if !holds.isSet { closed() } }
}
