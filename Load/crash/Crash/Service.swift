import APNsSimulator
import Dispatch
import FanfareLoop
import Foundation

/// The APNs simulator on a thread of the harness, which survives all kills.
final class Service {
    private struct Job: @unchecked Sendable {
        let run: (Simulator) -> Void
        let isDone = DispatchSemaphore(value: 0)
    }

    private let thread: LoopThread
    private let jobs = Locked<[Job]>([])
    private let signal: WakeupSignal
    let port: UInt16
    let startedNanoseconds: Int64

    /// - Parameters:
    ///   - app: the only app whose pushes it accepts.
    ///   - certificates: folder of keys and certificates.
    ///   - options: those of `apns-simulator`.
    ///   - onAccepted: called on the simulator's thread with each push that it accepts.
    init(
        of app: CardApp = .first, certificates: String, options: [String],
        onAccepted: @escaping @Sendable (AcceptedPush) -> Void
    ) throws {
        let options = try SimulatorOptions(
            arguments: [
                "--cert", certificates + "/server.pem", "--key", certificates + "/server.key", "--public-key",
                certificates + "/apns.pub.pem", "--bundle-id", app.bundleID,
            ] + options)
        let begun = Locked<Result<(UInt16, Int64, WakeupSignal), any Error>?>(nil)
        let isBegun = DispatchSemaphore(value: 0)
        thread = try LoopThread(name: "simulator") { [jobs] loop in
            do {
                let simulator = try Simulator(options, loop: loop)
                simulator.onReport = { FileHandle.standardError.write(Data("simulator: \($0)\n".utf8)) }
                simulator.onAccepted = onAccepted
                let wakeup = try Wakeup(loop: loop) {
                    let waiting = jobs.withLock { jobs in
                        defer { jobs = [] }
                        return jobs
                    }
                    for job in waiting {
                        job.run(simulator)
                        job.isDone.signal()
                    }
                }
                begun.withLock { $0 = .success((simulator.port, simulator.startedNanoseconds, wakeup.signal)) }
                isBegun.signal()
                loop.run()
                wakeup.close()
            } catch {
                begun.withLock { $0 = .failure(error) }
                isBegun.signal()
            }
        }
        isBegun.wait()
        (port, startedNanoseconds, signal) = try begun.withLock { try $0!.get() }  // set before the signal
    }

    private func onThread(_ run: @escaping (Simulator) -> Void) {
        let job = Job(run: run)
        jobs.withLock { $0.append(job) }
        signal.signal()
        job.isDone.wait()
    }

    /// Waits until everything that a killed program has sent is read.
    func drain() throws(CrashError) {
        for _ in 0..<20_000 {
            let count = Locked(0)
            onThread { simulator in count.withLock { $0 = simulator.connectionCount } }
            if count.withLock({ $0 }) == 0 { return }
            usleep(500)
        }
        throw CrashError("connections of a program that has ended do not end")
    }

    func dump(to path: String) throws {
        let failure = Locked<(any Error)?>(nil)
        onThread { simulator in
            do { try simulator.writeDump(to: path) } catch { failure.withLock { $0 = error } }
        }
        if let error = failure.withLock({ $0 }) { throw error }
    }

    var summary: String {
        let text = Locked("")
        onThread { simulator in text.withLock { $0 = simulator.summary(cpuSeconds: 0) } }
        return text.withLock { $0 }
    }

    /// Makes a folder with keys and certificates.
    static func makeCertificates(in folder: String) throws(CrashError) {
        var places = [FileManager.default.currentDirectoryPath]
        var place = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        while place.path != "/" {
            places.append(place.path)
            place.deleteLastPathComponent()
        }
        let scripts = places.map { $0 + "/Load/certificates.sh" }
        guard let script = scripts.first(where: { FileManager.default.fileExists(atPath: $0) }) else {
            throw CrashError("Load/certificates.sh: not found; run from the repository")
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [script, folder]
        do { try process.run() } catch { throw CrashError("\(script): cannot be started: \(error)") }
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CrashError("\(script): failed; openssl is needed") }
    }
}
