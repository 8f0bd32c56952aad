/// Processor time of a thread per push, in slices of some thousand pushes, each of which takes a few milliseconds.
///
/// Other work on the machine slows some slices and leaves the rest alone, so a low quantile of the slices varies much less from run to run
/// than the mean does.
struct PushCosts {
    /// Costs of the slices, in tenths of a nanosecond per push where a histogram has microseconds: a push costs 100 ns or more.
    private(set) var histogram = LatencyHistogram()
    private var pushes = 0
    /// Processor time at the slice's start, nanoseconds; `nil` before the first push.
    private var start: Int64?

    static let slicePushes = 4096

    /// - Parameter cpu: processor time of the thread in nanoseconds, asked for at a slice's end.
    mutating func note(_ count: Int, cpu: () -> Int64) {
        pushes += count
        guard let start else {
            // The pushes before the first reading have no start.
            (start, pushes) = (cpu(), 0)
            return
        }
        guard pushes >= PushCosts.slicePushes else { return }
        let now = cpu()
        histogram.record((now - start) * 10 / Int64(pushes))
        (self.start, pushes) = (now, 0)
    }
}

/// Processor time that each push costs more than it does, to show that a comparison finds so much.
struct PushWaste {
    /// Nanoseconds per push.
    var perPush = 0.0
    /// Nanoseconds that are still to be wasted; negative after a spin that took longer than it should, because reading the clock takes
    /// a good part of a microsecond.
    private var debt = 0.0

    /// - Parameter spin: uses so much processor time, and returns the time that it used.
    mutating func spend(_ pushes: Int, spin: (Int64) -> Int64) {
        guard perPush > 0 else { return }
        debt += perPush * Double(pushes)
        if debt >= 1 { debt -= Double(spin(Int64(debt))) }
    }
}
