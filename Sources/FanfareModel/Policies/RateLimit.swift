/// Rate limit that allows a burst of uses at once and one more for each period that passes: the generic cell rate algorithm (GCRA).
///
/// All that there is to know of the past is a debt: the time until the limit is whole again if nothing more is used. A use adds a period to the debt,
/// and time that passes pays it off, so rounding takes nothing away. The limit allows a use if the debt is not greater than the capacity after it.
///
/// The limit is a pure rule without clock or unit. It is asked with a debt, and not with the time at which the debt is paid off, because its users
/// store debts in different ways: a bucket's serial form has a credit and its time, an activity has two bytes from its stamp on, and a
/// device has the time alone.
@usableFromInline package struct RateLimit<Span: FixedWidthInteger & Sendable>: Sendable {
    /// Time in which one use comes back.
    @usableFromInline package let period: Span
    /// The greatest debt without an overdraft.
    @usableFromInline package let capacity: Span

    @inlinable package init(period: Span, capacity: Span) {
        self.period = period
        self.capacity = capacity
    }

    /// Creates a limit whose capacity is all of its burst.
    @inlinable package init(burst: Span, period: Span) { self.init(period: period, capacity: burst * period) }

    /// - Parameter overdraft: debt that is allowed beyond the capacity.
    @inlinable @inline(__always)
    package func allowsUse(at debt: Span, overdraft: Span = 0) -> Bool { debt + period <= capacity + overdraft }

    /// Returns the debt after one use, whether the limit allows it or not.
    @inlinable @inline(__always)
    package func charged(_ debt: Span) -> Span { debt + period }

    /// Returns the time after which the limit allows a use; zero while it allows one.
    @inlinable package func wait(at debt: Span) -> Span { charged(debt) - min(charged(debt), capacity) }

    /// Returns the number of uses that are allowed at once.
    @inlinable package func uses(at debt: Span) -> Span { (capacity - debt) / period }

    /// The debt of a limit that is half spent. Of an odd number of uses, the greater half is left, so that a limit of one use allows it.
    @inlinable package var halfSpent: Span { uses(at: 0) / 2 * period }

    /// Returns what is left of a debt after some time. A use that is given back counts as a period that has passed.
    @inlinable @inline(__always)
    package static func rest(of debt: Span, after elapsed: Span) -> Span { debt - min(debt, elapsed) }
}
