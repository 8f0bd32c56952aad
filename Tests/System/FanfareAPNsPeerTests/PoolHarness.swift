import FanfareAPNs
import FanfareFanOut
import FanfareLoop
import FanfareModel
import Foundation
import ServerTestSupport
import Testing

/// A pool, its source and their loop, run on the test's own thread until a condition holds. The simulator may live on the
/// same loop.
final class PoolHarness {
    let loop: Loop
    let time: LoopTime
    let source: MemorySource
    private(set) var pool: ConnectionPool! = nil  // set in init, which hands `self` to its callbacks
    private(set) var reports: [String] = []

    init(
        loop: Loop? = nil, source: MemorySource, configuration: PoolConfiguration,
        credentials: ProviderToken, time: LoopTime = LoopTime()
    ) throws {
        self.loop = try loop ?? Loop()
        self.source = source
        self.time = time
        time.run(on: self.loop)
        pool = try ConnectionPool(
            loop: self.loop, source: source, credentials: credentials, configuration: configuration,
            clock: { time.now }, onReport: { [unowned self] in reports.append($0) })
    }

    deinit { loop.close() }

    /// Runs the loop until the condition holds after some turn; records an issue if that takes minutes. The limit only keeps a test from
    /// hanging: the test itself checks the duration by the pool's own time.
    func run(_ what: String, until condition: @escaping () -> Bool) {
        if condition() { return }
        let limit = Duration.seconds(180)
        let deadline = LoopTimer(loop: loop) { [unowned self] in
            Issue.record("\(what): not within \(limit); \(pool.statistics), trouble: \(pool.trouble?.text ?? "none")")
            loop.stop()
        }
        deadline.start(after: limit)
        let before = loop.onTurn
        loop.onTurn = { [unowned self] in
            before?()
            if condition() { loop.stop() }
        }
        loop.run()
        loop.onTurn = before
        deadline.close()
        let violation = pool.violation()
        #expect(violation == nil, "\(what)")
    }

    /// - Returns: a timer that advances the time by this leap, and makes the pool, whose own timer does not know of leaps, check its work.
    func leaps(of leap: Duration, every: Duration = .milliseconds(2)) -> LoopTimer {
        let timer = LoopTimer(loop: loop) { [unowned self] in
            time.leap(leap)
            pool.workAvailable()
        }
        timer.start(after: .zero, repeating: every)
        return timer
    }

    /// Closes the pool and checks the contract: every delivery has been completed once.
    func close() {
        var isClosed = false
        pool.close { isClosed = true }
        run("closing") { isClosed }
        #expect(source.violations.isEmpty, "\(source.violations.prefix(3))")
        #expect(source.inFlight == 0)
        #expect(pool.statistics.sent == pool.statistics.answered)
    }
}

extension PoolConfiguration {
    /// Disables a connection's timeouts, for tests in which time leaps, and for servers whose process may be delayed while ours
    /// is not.
    mutating func waitForEver() {
        requestTimeout = .seconds(86_400)
        connectTimeout = .seconds(86_400)
        pingAfter = .seconds(86_400)
        idlePingAfter = .seconds(86_400)
        // A server that still writes to a connection which the pool has given up on sees it break.
        lingerTimeout = .seconds(86_400)
        drainTimeout = .seconds(86_400)
    }
}

/// Returns a port without a listener at the moment.
func freePort() throws -> UInt16 {
    let loop = try Loop()
    defer { loop.close() }
    return try TCPListener(loop: loop, host: "127.0.0.1", port: 0) { _ in }.port
}

/// A server program that ends with the object.
final class ServerProcess {
    private let process = Process()

    init(_ arguments: [String], in scratch: Scratch) throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.currentDirectoryURL = scratch.url
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    deinit { stop() }

    func stop() {
        guard process.isRunning else { return }
        // Not SIGTERM: a child inherits the signal mask of the thread that starts it, and the tests' threads block that signal.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}

func examplePayload() -> Payload {
    Payload(
        event: .update, logLabel: "match/1", state: Array(#"{"away":1,"home":2,"minute":57}"#.utf8),
        stamp: Clock.wallMilliseconds() / 1000,
        staleDate: nil, dismissalDate: nil, alert: AlertText(title: "Goal", body: "2:1"), priority: .immediate)
}
