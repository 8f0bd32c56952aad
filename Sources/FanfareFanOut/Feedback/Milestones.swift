/// Limits reports of a frequent event to the first, the tenth, the hundredth one, and so on.
struct Milestones {
    private var count = 0
    private var nextReport = 1

    /// Counts one more event.
    ///
    /// - Returns: the number of events so far, if this one is to be reported.
    mutating func next() -> Int? {
        count += 1
        guard count == nextReport else { return nil }
        nextReport = nextReport.multipliedReportingOverflow(by: 10).partialValue
        return count
    }
}
