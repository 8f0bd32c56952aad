import FanfareDecisions
import FanfareLoop
import FanfareModel
import Synchronization

/// Core of an engine on its thread, and what the thread shares with the engine's callers.
struct RunningCore: Sendable {
    let apps: [AppID]
    let inbox: Inbox
    let clock: ClockSource
    let signal: WakeupSignal
    /// Meters of the store; `nil` without a store.
    let meters: StoreMeters?
    let coreThread: CoreThread
    let thread: Locked<LoopThread>
    let announcements: Announcements
    let ending: Ending

    /// What a driver on the core's thread gives to other threads once it runs.
    private struct Begun: Sendable {
        let signal: WakeupSignal
        let meters: StoreMeters?
    }

    /// Runs the blocking initialiser on a thread of its own and waits for its result. A cancelled task still waits.
    static func begun(_ options: EngineOptions, _ observer: EngineObserver) async throws(EngineFault) -> RunningCore {
        // A continuation that is resumed before its task waits hands its value over in a way that ThreadSanitizer does not see. It sees this lock, which
        // both threads take.
        let handover = Locked(())
        let result: Result<RunningCore, EngineFault> = await withCheckedContinuation { continuation in
            // A queue of Dispatch is no substitute: it waits for ever where no thread can be created.
            do throws(LoopError) {
                try DetachedThread.run(name: "fanfare launch") {
                    do throws(EngineFault) {
                        let core = try RunningCore(options, observer)
                        handover.withLock { _ in }
                        continuation.resume(returning: .success(core))
                    } catch {
                        continuation.resume(returning: .failure(error))
                    }
                }
            } catch {
                continuation.resume(returning: .failure(EngineFault(error)))
            }
        }
        handover.withLock { _ in }
        return try result.get()
    }

    /// Blocks until the subscribers are loaded, or until a store's events are read.
    init(_ options: EngineOptions, _ observer: EngineObserver) throws(EngineFault) {
        do {
            try self.init(
                options, observer, apps: options.transport.apps,
                makeTransports: options.transport.makeFactories(shards: options.shards))
        } catch { throw EngineFault(error) }
    }

    /// - Parameter makeTransports: one factory per app, or a single one if there are no apps.
    init(
        _ options: EngineOptions, _ observer: EngineObserver, apps: [AppID], makeTransports: [TransportFactory]
    ) throws {
        guard RunningCore.shardCounts.contains(options.shards) else {
            throw OptionsFault(
                description:
                    "an engine has \(RunningCore.shardCounts.lowerBound) to \(RunningCore.shardCounts.upperBound) shards of each "
                    + "app, not \(options.shards)")
        }
        let inbox = Inbox(
            capacity: Inbox.capacity(for: options.mailboxCapacity),
            topicIDSizeMax: options.rules.limits.topicIDSizeMax, hasStore: options.store != nil)
        let started = Started<Begun>()
        let coreThread = CoreThread()
        let announcements = Announcements(observer)
        let ending = Ending()
        // The thread takes the options out, because its body would otherwise keep the source of subscribers until it ends.
        let given = Locked<EngineOptions?>(options)
        let thread = try LoopThread(name: "fanfare core") { loop in
            coreThread.id.store(LoopThread.current, ordering: .relaxed)
            do {
                let report = try RunningCore.serve(started) {
                    let options = given.withLock { $0.take()! }  // set above, and taken once
                    return try EngineDriver(loop, options, apps, makeTransports, inbox, announcements)
                }
                announcements.finish()
                ending.come(with: report)
            } catch {
                started.fail(error)
            }
        }
        let begun: Begun
        do { begun = try started.wait() } catch {
            thread.join()
            throw error
        }
        (signal, meters) = (begun.signal, begun.meters)
        self.apps = apps
        self.inbox = inbox
        clock = options.clock
        self.coreThread = coreThread
        self.thread = Locked(thread)
        self.announcements = announcements
        self.ending = ending
    }

    /// Makes a driver and runs it until the engine has stopped. The driver is released, with the core and all its topics, when the call returns:
    /// a task that waits for the ending then joins a thread that has nothing left to release. Not inlined, so that no optimiser moves the release.
    @inline(never)
    private static func serve(
        _ started: Started<Begun>, with makeDriver: () throws -> EngineDriver
    ) throws -> ShutdownReport {
        let driver = try makeDriver()
        started.succeed(Begun(signal: driver.signal, meters: driver.meters))
        return driver.run()
    }

    private static let shardCounts = 1...256
    /// Longest timeout: 34 years, far from where clocks overflow.
    private static let longest = Duration.seconds(1 << 30)

    static func bounded(_ timeout: Duration) -> Duration { max(.zero, min(timeout, longest)) }

    /// Returns the time at which `timeout` is over.
    func time(in timeout: Duration) -> MonotonicTime { clock.monotonic() + RunningCore.bounded(timeout) }

    /// Closes the inbox, and makes the core end its work within the time.
    func stop(within timeout: Duration) {
        inbox.stop(by: time(in: timeout))
        signal.signal()
    }
}
