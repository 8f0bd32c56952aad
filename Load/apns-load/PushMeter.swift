import FanfareLoop

/// Measures a client's publications: time and processor time to the last accepted push of each, and how often memory was asked for.
struct PushMeter {
    /// Time and processor time of the latest publication, in nanoseconds.
    private var publishedAt: (time: Int64, cpu: Int64) = (0, 0)
    private(set) var seconds: [Double] = []
    private(set) var cpuSeconds: [Double] = []
    /// Allocations of this thread after the first publication was out and after the last one was.
    private var allocations: (first: PushAllocations, last: PushAllocations) = (.now(), .now())

    mutating func notePublication() {
        publishedAt = (Clock.monotonicNanoseconds(), Clock.processCPUNanoseconds())
    }

    /// Notes that all pushes of the latest publication have been accepted.
    mutating func noteOut(isFirst: Bool) {
        seconds.append(Double(Clock.monotonicNanoseconds() - publishedAt.time) / 1e9)
        cpuSeconds.append(Double(Clock.processCPUNanoseconds() - publishedAt.cpu) / 1e9)
        allocations.last = .now()
        if isFirst { allocations.first = .now() }
    }

    /// Returns the allocations since the first publication was out, divided by the pushes since.
    func allocations(per pushes: Int) -> PushAllocations {
        let (first, last) = allocations
        return PushAllocations(
            ours: (last.ours - first.ours) / Double(pushes), openSSL: (last.openSSL - first.openSSL) / Double(pushes))
    }
}
