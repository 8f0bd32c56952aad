/// Tells of what may happen a million times: of the first, the tenth, the hundredth, and so on.
struct Milestones {
    private var count = 0
    private var told = 1

    /// It has happened once more.
    ///
    /// - Returns: how often by now, when that is to be told.
    mutating func next() -> Int? {
        count += 1
        guard count == told else { return nil }
        told = told.multipliedReportingOverflow(by: 10).partialValue
        return count
    }
}
