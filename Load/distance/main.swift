import Distance
import FanfareLoop
@preconcurrency import Glibc

/// Runs the relay. A function, not top-level code: callbacks from libuv must not belong to the main actor.
private func run() -> Int32 {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.contains("--help") || arguments.contains("-h") {
        print(RelayOptions.help, terminator: "")
        return 0
    }
    do {
        let options = try RelayOptions(arguments: arguments)
        let loop = try Loop()
        let relay = try Relay(options, loop: loop)
        let watchers = try [SignalWatcher.Signal.interrupt, .terminate].map { signal in
            try SignalWatcher(loop: loop, signal: signal) { loop.stop() }
        }
        print("listening on \(options.listen.host):\(relay.port)")
        fflush(stdout)
        loop.run()
        watchers.forEach { $0.close() }
        relay.close()
        let seconds = Double(Clock.processCPUNanoseconds()) / 1e9
        print(
            "summary connections=\(relay.accepted) turned_away=\(relay.turnedAway) bytes=\(relay.bytes) cpu_seconds=\(seconds)"
        )
        loop.close()
        return 0
    } catch let error as UsageError {
        complain("\(error)\nusage: apns-distance --to ADDRESS:PORT --round-trip MS; more with --help")
        return 2
    } catch {
        complain("\(error)")
        return 1
    }
}

private func complain(_ text: String) {
    fputs("apns-distance: \(text)\n", stderr)
}

// Each connection needs two descriptors.
FileLimit.raise()
exit(run())
