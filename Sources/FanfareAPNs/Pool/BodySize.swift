import FanfareModel

/// Size of a push's body by which the pool plans: the largest average of the last half-hour to hour, because the pool must be large enough for
/// a goal, and its alert makes it larger than the silent updates before it.
struct BodySize {
    /// Size of the last body, from which the bodies per window are estimated. Bodies that are sent together have similar sizes.
    private(set) var last = ByteCount.kibibytes(1)
    private var average = 512.0
    private var pushes = 0.0
    private var peak = RecentPeak<Double>(memory: PoolSize.memory)

    /// Pushes over which the average is taken, and before which it says nothing: single large ones do not count.
    private static let span = 1024.0

    /// Size to plan with.
    var usual: ByteCount { .bytes(Int(max(average, peak.value))) }

    /// Notes pushes with one body.
    mutating func note(_ size: ByteCount, of count: Int, at now: MonotonicTime) {
        last = size
        average += (Double(size.bytes) - average) * min(1, Double(count) / BodySize.span)
        pushes += Double(count)
        if pushes >= BodySize.span { peak.note(average, at: now) }
    }
}
