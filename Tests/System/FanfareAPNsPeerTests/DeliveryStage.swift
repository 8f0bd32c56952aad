import FanfareLoop
import FanfareModel
import FanfareTestSupport
import Foundation
import LoadJSON
import ServerTestSupport
import Testing

@testable import APNsSimulator
@testable import FanfareAPNs
@testable import FanfareFanOut

/// A shard, its connections and the simulator on one loop. The shard's time and the pool's stand still, however long the machine takes,
/// except where a test advances them: a push that has to wait for time waits for ever. The simulator's own time goes on, and its
/// date advances with theirs.
final class DeliveryStage {
    static let topic = TopicID("match/1")

    let loop: Loop
    let shard = Shard()
    let simulator: Simulator
    private let scratch: Scratch
    private(set) var pool: ConnectionPool! = nil  // set in `init`, whose callbacks need `self`
    private let time: LoopTime
    /// Error of the machine's wall clock. APNs and phones have clocks of their own.
    var wallError = Duration.zero
    private var estimate: WallEstimate
    private let proof = WallProof()
    private var credentials: ProviderToken
    /// Time that passes with each check for due work, which comes every few milliseconds.
    var leap = Duration.zero
    private var nudge: LoopTimer?
    private var newKey: String?
    private(set) var reports: [String] = []

    /// - Parameter goesOn: whether time passes with the loop, for tests that need moments to differ.
    init(
        goesOn: Bool = false, pool configure: (inout PoolConfiguration) -> Void = { _ in },
        simulator change: (inout SimulatorOptions) -> Void
    ) throws {
        time = LoopTime(goesOn: goesOn)
        scratch = try Scratch()
        try scratch.makeCertificates()
        var options = scratch.simulatorOptions
        change(&options)
        loop = try Loop()
        time.run(on: loop)
        simulator = try Simulator(options, loop: loop)
        var configuration = PoolConfiguration(
            endpoint: Endpoint(host: "localhost", port: simulator.port, caFile: scratch.path("ca.pem")),
            bundleID: "com.example.app")
        // Time leaps while answers are pending.
        configuration.waitForEver()
        configuration.pingTimeout = .seconds(86_400)
        configure(&configuration)
        estimate = WallEstimate(
            wallMilliseconds: time.now.wallMilliseconds, monotonicNanoseconds: time.now.monotonic.nanoseconds)
        credentials = try ProviderToken(
            keyFile: scratch.path("apns.p8"), keyID: "K123456789", teamID: "T123456789")
        pool = try ConnectionPool(
            loop: loop, source: shard, credentials: credentials, configuration: configuration,
            clock: { [unowned self] in now }, proof: proof,
            onReport: { [unowned self] in reports.append($0) })
        nudge = LoopTimer(loop: loop) { [unowned self] in
            pass(leap)
            // The core would read these facts.
            _ = shard.takeFeedback()
            shard.wakeDue(at: now)
            // The pool's own timer does not know of leaps.
            pool.workAvailable()
        }
        nudge?.start(after: .zero, repeating: .milliseconds(5))
    }

    deinit { loop.close() }

    /// The moment, read from the clocks as an engine's thread does.
    var now: Moment {
        let moment = time.now
        return estimate.read(
            wallMilliseconds: moment.wallMilliseconds + wallError.milliseconds,
            monotonicNanoseconds: moment.monotonic.nanoseconds, provenOrigin: proof.origin)
    }

    /// Advances the time of all parts.
    private func pass(_ duration: Duration) {
        time.leap(duration)
        simulator.clock.aheadMilliseconds += duration.milliseconds
    }

    /// Lets time pass outside while the machine is suspended and its monotonic clock stands still, as when a virtual machine is moved. The
    /// wall clock is set right afterwards.
    func standStill(for duration: Duration) {
        wallError += duration
        simulator.clock.aheadMilliseconds += duration.milliseconds
    }

    func follow(_ person: Int, _ audience: AudienceKey = .topic(DeliveryStage.topic), token: [UInt8]) {
        shard.apply(.follow(ActivityID(UInt64(person)), audience, token: token), at: now)
    }

    /// Publishes a goal, or a silent change.
    func publish(
        _ version: UInt32, of topic: TopicID = DeliveryStage.topic, _ event: Publication.Event = .update,
        isSilent: Bool = false
    ) {
        let publication = Publication.test(
            UInt64(version), of: topic, event: event,
            alert: isSilent
                ? nil
                : Alert(
                    cause: "goal \(version)", class: .essential, text: AlertText(title: "Goal \(version)", body: ""),
                    freshFor: .seconds(3600), highlight: "version"), dismissal: event == .end ? .after(.zero) : nil)
        shard.apply(.publish(publication), at: now)
        pool.workAvailable()
    }

    /// Makes the key in use invalid, and another one valid that the pool does not have yet.
    func revokeKey() throws {
        let key = try ES256PrivateKey.generate()
        newKey = try key.pem()
        simulator.service.trust(key.publicKey)
    }

    /// Replaces the key file's content by the valid key.
    func mendKey() throws { try newKey?.write(toFile: scratch.path("apns.p8"), atomically: false, encoding: .utf8) }

    /// Returns the pushes that the simulator has accepted, by token and in order. The stage is closed by then.
    func accepted() throws -> [[Accepted]] {
        let dump = scratch.path("dump.ndjson")
        try simulator.writeDump(to: dump)
        return try String(contentsOfFile: dump, encoding: .utf8).split(separator: "\n").compactMap { line in
            guard let pushes = try JSON(parsing: Array(line.utf8))["accepted"]?.arrayValue else { return nil }
            return pushes.compactMap(\.arrayValue).map {
                Accepted(
                    state: $0[1].stringValue, event: $0[3].stringValue ?? "", alert: $0[5].stringValue)
            }
        }
    }

    /// An accepted push, with state and alert as hashes.
    struct Accepted {
        let state: String?
        let event: String
        let alert: String?
    }

    /// Runs the loop until the condition holds after some turn.
    func run(_ what: String, until condition: @escaping () -> Bool) throws {
        var isLate = false
        let deadline = LoopTimer(loop: loop) { [loop] in
            isLate = true
            loop.stop()
        }
        deadline.start(after: .seconds(180))
        let before = loop.onTurn
        loop.onTurn = { [loop] in
            before?()
            if condition() { loop.stop() }
        }
        if !condition() { loop.run() }
        loop.onTurn = before
        deadline.close()
        try #require(
            !isLate, "\(what): \(pool.statistics), \(pool.trouble?.text ?? "no trouble"), \(reports.suffix(5))")
    }

    func close() throws {
        // The connections' close may take a second.
        leap = .milliseconds(10)
        var isClosed = false
        pool.close { isClosed = true }
        try run("closing") { isClosed }
        nudge?.close()
        simulator.close()
        #expect(shard.violatedInvariant() == nil)
    }
}

extension Simulator {
    /// Accepted pushes, less those whose answers the simulator knows to be lost.
    var delivered: Int { statistics[.accepted] - statistics.failedStreams }
    /// Answers and resets after which any client tries again.
    var failures: Int { statistics[.internalServerError] + statistics.refusedStreams + statistics.failedStreams }
    var dead: Int { statistics[.expiredToken] + statistics[.unregistered] }
}
