import APNsSimulator
import FanfareLoop
@preconcurrency import Glibc

/// Runs the simulator. A function, not top-level code: callbacks from libuv must not belong to the main actor.
private func run() -> Int32 {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.contains("--help") || arguments.contains("-h") {
        print(SimulatorOptions.help, terminator: "")
        return 0
    }
    do {
        let options = try SimulatorOptions(arguments: arguments)
        let loop = try Loop()
        let simulator: any APNsStandIn =
            switch options.mode {
            case .faithful: try Simulator(options, loop: loop)
            case .fast: try FastSimulator(options, loop: loop)
            }
        simulator.onReport = { complain($0) }
        let watchers = try [SignalWatcher.Signal.interrupt, .terminate].map { signal in
            try SignalWatcher(loop: loop, signal: signal) { loop.stop() }
        }
        print("listening on \(options.host):\(simulator.port)")
        fflush(stdout)
        loop.run()
        watchers.forEach { $0.close() }
        simulator.close()
        // The options allow a dump only in the faithful mode.
        if let path = options.dumpFile { try (simulator as? Simulator)?.writeDump(to: path) }
        print("summary", simulator.summary(cpuSeconds: Double(Clock.processCPUNanoseconds()) / 1e9))
        loop.close()
        return 0
    } catch let error as UsageError {
        complain(
            "\(error)\nusage: apns-simulator --cert FILE --key FILE --public-key FILE --bundle-id ID; more with --help")
        return 2
    } catch {
        complain("\(error)")
        return 1
    }
}

private func complain(_ text: String) {
    fputs("apns-simulator: \(text)\n", stderr)
}

FileLimit.raise()
exit(run())
