import FanfareLoop

/// Time of a rush without its pauses, and the processor time in it.
struct RushTime {
    private var startedAt: (clock: Int64, processor: Int64) = (0, 0)
    private(set) var seconds = 0.0
    private(set) var processorSeconds = 0.0

    mutating func begin() {
        startedAt = (Clock.monotonicNanoseconds(), Clock.processCPUNanoseconds())
    }

    mutating func pause() {
        seconds += Double(Clock.monotonicNanoseconds() - startedAt.clock) / 1e9
        processorSeconds += Double(Clock.processCPUNanoseconds() - startedAt.processor) / 1e9
    }
}
