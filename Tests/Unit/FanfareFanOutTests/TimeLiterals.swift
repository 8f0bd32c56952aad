public import FanfareModel

/// Tests write times of the monotonic clock as nanoseconds.
extension MonotonicTime: ExpressibleByIntegerLiteral {
    /// Creates the time of a literal number of nanoseconds.
    public init(integerLiteral nanoseconds: Int64) { self.init(nanoseconds: nanoseconds) }
}
