import FanfareModel

extension MonotonicTime {
    /// Returns the time after a while on a clock that began at zero.
    static func after(_ wait: Duration) -> MonotonicTime { MonotonicTime(nanoseconds: 0) + wait }
}
