import APNsSimulator
import Dispatch
import FanfareLoop
import Synchronization

/// A simulator on a thread of its own, for an engine that has threads of its own.
final class RunningSimulator {
    let port: UInt16
    private let thread: LoopThread
    private let stopRequest: WakeupSignal
    private let start: Start

    /// What its thread tells the one that made it.
    private final class Start: Sendable {
        let begun = DispatchSemaphore(value: 0)
        let place = Mutex<(port: UInt16, stopRequest: WakeupSignal)?>(nil)
        let failure = Mutex<String?>(nil)
    }

    struct Failed: Error, CustomStringConvertible { let description: String }

    /// - Parameter dump: where all it has accepted is written in the end.
    init(_ options: SimulatorOptions, dump: String) throws {
        let start = Start()
        thread = try LoopThread(name: "simulator") { loop in
            do {
                let simulator = try Simulator(options, loop: loop)
                let wakeup = try Wakeup(loop: loop) { loop.stop() }
                start.place.withLock { $0 = (simulator.port, wakeup.signal) }
                start.begun.signal()
                loop.run()
                wakeup.close()
                simulator.close()
                try simulator.writeDump(to: dump)
            } catch {
                start.failure.withLock { $0 = "\(error)" }
                start.begun.signal()
            }
        }
        start.begun.wait()
        guard let place = start.place.withLock({ $0 }) else {
            throw Failed(description: start.failure.withLock { $0 } ?? "the simulator did not begin")
        }
        port = place.port
        stopRequest = place.stopRequest
        self.start = start
    }

    /// Ends it; its dump is written then.
    func stop() throws {
        stopRequest.signal()
        thread.join()
        if let failure = start.failure.withLock({ $0 }) { throw Failed(description: failure) }
    }
}
