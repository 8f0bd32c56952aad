import FanfareLoop
import Glibc

/// Requests to stop a replay: signals from the terminal or a service manager, and calls of the
/// embedding program. Confined to the replay's loop.
final class Interruptions {
    private var wakeup: Wakeup?
    private var signals: [SignalWatcher] = []
    var onInterrupt: () -> Void = {}

    init(loop: Loop) throws(LoopError) { wakeup = try Wakeup(loop: loop) { [unowned self] in onInterrupt() } }

    /// Takes over SIGINT, SIGTERM and SIGHUP, which no longer end the process.
    func takeSignals(of loop: Loop) throws(LoopError) {
        for signal in [SignalWatcher.Signal.interrupt, .terminate] {
            signals.append(try SignalWatcher(loop: loop, signal: signal) { [unowned self] in onInterrupt() })
        }
        // SIGHUP ends only a replay that reads from a terminal. A replay that reads from a pipe or runs as a service goes on.
        let isInteractive = isatty(STDIN_FILENO) == 1
        signals.append(
            try SignalWatcher(loop: loop, signal: .hangUp) { [unowned self] in if isInteractive { onInterrupt() } })
    }

    /// Interrupts the replay; callable from any thread.
    var interrupt: @Sendable () -> Void {
        let signal = wakeup?.signal
        return { signal?.signal() }
    }

    /// Restores the signals' default action, which ends the process.
    func releaseSignals() {
        for signal in signals { signal.close() }
        signals = []
    }
}
