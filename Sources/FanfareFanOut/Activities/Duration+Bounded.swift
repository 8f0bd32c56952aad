import FanfareModel

extension Duration {
    /// The duration in nanoseconds, between zero and ten years, so that no sum with a moment overflows.
    var boundedNanoseconds: Int64 {
        min(max(.zero, self), .seconds(10 * 365 * 86_400)).milliseconds * 1_000_000
    }
}
