import FanfareLoop
import Glibc

/// Whoever wants a replay to stop: somebody at the terminal or a service manager, by signals, and the embedding program. Confined to the
/// replay's loop.
final class Interruptions {
    private var wakeup: Wakeup?
    private var signals: [SignalWatcher] = []
    var onInterrupt: () -> Void = {}

    /// From now on signals do not end the process.
    init(loop: Loop) throws(LoopError) {
        wakeup = try Wakeup(loop: loop) { [unowned self] in onInterrupt() }
        for signal in [SignalWatcher.Signal.interrupt, .terminate] {
            signals.append(try SignalWatcher(loop: loop, signal: signal) { [unowned self] in onInterrupt() })
        }
        // Logging out ends what is read from the terminal. What comes through a pipe, or is started by a service, goes on.
        let isInteractive = isatty(STDIN_FILENO) == 1
        signals.append(
            try SignalWatcher(loop: loop, signal: .hangUp) { [unowned self] in if isInteractive { onInterrupt() } })
    }

    /// From any thread.
    var interrupt: @Sendable () -> Void {
        let signal = wakeup?.signal
        return { signal?.signal() }
    }

    /// Signals end the process again.
    func releaseSignals() {
        for signal in signals { signal.close() }
        signals = []
    }
}
