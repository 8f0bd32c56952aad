/// Size of a push's body by which the pool plans: the largest average of the last half-hour to hour, because the pool must be large enough for
/// a goal, and its alert makes it larger than the silent updates before it. All times are monotonic nanoseconds.
struct BodySize {
    /// Bytes of the last body, from which the bodies per window are estimated. Bodies that are sent together have similar sizes.
    private(set) var last = 1024
    private var average = 512.0
    private var pushes = 0.0
    /// Largest average in the current and in the previous period of `PoolSize.memory`.
    private var (peak, formerPeak) = (0.0, 0.0)
    private var peakTurnsAt = Int64.min

    /// Pushes over which the average is taken, and before which it says nothing: single large ones do not count.
    private static let span = 1024.0

    var bytes: Int { Int(max(average, peak, formerPeak)) }

    /// Notes pushes with one body.
    mutating func note(_ bytes: Int, of count: Int, at now: Int64) {
        if now >= peakTurnsAt {
            formerPeak = peakTurnsAt == .min || now - peakTurnsAt >= PoolSize.memory ? 0 : peak
            peak = 0
            peakTurnsAt = now + PoolSize.memory
        }
        last = bytes
        average += (Double(bytes) - average) * min(1, Double(count) / BodySize.span)
        pushes += Double(count)
        if pushes >= BodySize.span { peak = max(peak, average) }
    }
}
