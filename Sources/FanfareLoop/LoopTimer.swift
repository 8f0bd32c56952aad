internal import CFanfareUV

/// Calls its handler on the loop after a delay, once or repeatedly. Delays are rounded up to whole milliseconds; the timer
/// never fires early.
package final class LoopTimer: Handle {
    private var handler: (() -> Void)?
    /// Called at the end of each turn of the loop in which `callAtTurnEnd` was called: the place to start the timer when many events of a turn
    /// may change its time.
    package var onTurnEnd: (() -> Void)?

    package init(loop: Loop, handler: @escaping () -> Void) {
        self.handler = handler
        super.init(loop, UV_TIMER)
        unsafe uv_timer_init(loop.raw, pointer())  // has no way to fail
        adopt()
    }

    /// Starts or restarts the timer. Timers that are due together fire in the order of their deadlines, then of their starts.
    package func start(after delay: Duration, repeating interval: Duration? = nil) {
        guard !isClosed, let loop else { return }
        // libuv counts from the start of the turn, but the delay counts from now.
        unsafe uv_update_time(loop.raw)
        unsafe uv_timer_start(
            pointer(), timerFired, LoopTimer.milliseconds(delay),
            interval.map { max(1, LoopTimer.milliseconds($0)) } ?? 0)
    }

    package func stop() {
        guard !isClosed else { return }
        unsafe uv_timer_stop(pointer())
    }

    package func callAtTurnEnd() { atTurnEnd() }

    override func turnEnded() { onTurnEnd?() }

    package override func willClose() {
        handler = nil
        onTurnEnd = nil
    }

    fileprivate func fire() { handler?() }

    private static func milliseconds(_ duration: Duration) -> UInt64 {
        let (seconds, attoseconds) = duration.components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        // The limit of a thousand years, beyond any real delay, keeps libuv's addition to its clock from overflowing.
        guard seconds < 31_557_600_000 else { return 31_557_600_000_000 }
        return UInt64(seconds) * 1000 + UInt64((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}

private func timerFired(_ timer: UnsafeMutablePointer<uv_timer_t>?) { unsafe owner(timer, as: LoopTimer.self).fire() }
