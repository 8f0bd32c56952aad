import Dispatch
import FanfareLoop
import Foundation

@testable import APNsSimulator

/// A simulator on a thread of its own, for an engine that has threads of its own.
final class RunningSimulator {
    let port: UInt16
    /// The moment from which the dump's times are counted.
    let startedNanoseconds: Int64
    private let progress: Progress
    private let thread: LoopThread
    private let stopRequest: WakeupSignal
    private let start: Start

    /// The result of the simulator's start, which its thread passes to the one that created it.
    private final class Start: Sendable {
        let begun = DispatchSemaphore(value: 0)
        let place = Locked<(port: UInt16, startedNanoseconds: Int64, stopRequest: WakeupSignal)?>(nil)
        let failure = Locked<String?>(nil)
    }

    /// Number of accepted pushes. Two threads share it; the condition guards everything that changes.
    private final class Progress: @unchecked Sendable {
        private let condition = NSCondition()
        private var accepted = 0

        func reach(_ count: Int) {
            condition.lock()
            if count > accepted {
                accepted = count
                condition.broadcast()
            }
            condition.unlock()
        }

        func wait(for count: Int) -> Bool {
            condition.lock()
            defer { condition.unlock() }
            let limit = Date(timeIntervalSinceNow: 120)
            while accepted < count { if !condition.wait(until: limit) { return false } }
            return true
        }
    }

    struct Failed: Error, CustomStringConvertible { let description: String }

    /// - Parameter dump: the file to which all accepted pushes are finally written.
    init(_ options: SimulatorOptions, dump: String) throws {
        let start = Start()
        let progress = Progress()
        self.progress = progress
        thread = try LoopThread(name: "simulator") { loop in
            do {
                let simulator = try Simulator(options, loop: loop)
                let wakeup = try Wakeup(loop: loop) { loop.stop() }
                start.place.withLock {
                    $0 = (simulator.port, simulator.clock.startedNanoseconds, wakeup.signal)
                }
                let endTurn = loop.onTurn
                loop.onTurn = {
                    endTurn?()
                    progress.reach(simulator.statistics[.accepted])
                }
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
        startedNanoseconds = place.startedNanoseconds
        stopRequest = place.stopRequest
        self.start = start
    }

    func waitUntil(accepted count: Int) throws {
        guard progress.wait(for: count) else { throw Failed(description: "\(count) pushes were not accepted in time") }
    }

    /// Stops the simulator, which then writes its dump.
    func stop() throws {
        stopRequest.signal()
        thread.join()
        if let failure = start.failure.withLock({ $0 }) { throw Failed(description: failure) }
    }
}
