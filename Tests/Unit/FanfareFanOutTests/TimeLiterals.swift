package import FanfareModel

/// Tests write times of the monotonic clock as nanoseconds.
extension MonotonicTime: ExpressibleByIntegerLiteral {
    package init(integerLiteral nanoseconds: Int64) { self.init(nanoseconds: nanoseconds) }
}
