/// A number that changes while the simulator runs.
package struct ValueSchedule: Sendable, Equatable {
    package struct Step: Sendable, Equatable {
        /// Milliseconds since the simulator's start, or since the start of a period.
        package var at: Int
        package var value: Int
        package init(at: Int, value: Int) {
            self.at = at
            self.value = value
        }
    }

    package var first: Int
    /// Steps in the order of their times; the first is later than 0.
    package var steps: [Step]
    /// Milliseconds after which the schedule starts again, later than the last step; `nil` for never.
    package var period: Int?

    package init(_ first: Int, _ steps: [Step] = [], period: Int? = nil) {
        self.first = first
        self.steps = steps
        self.period = period
    }

    package func value(at now: Int) -> Int {
        let now = period.map { now % $0 } ?? now
        return steps.last { $0.at <= now }?.value ?? first
    }

    /// Returns the time of the next change; `nil` if there is none.
    package func change(after now: Int) -> Int? {
        guard let last = steps.last else { return nil }
        guard let period else { return now < last.at ? steps.first { $0.at > now }?.at : nil }
        let start = now - now % period
        return start + (steps.first { $0.at > now - start }?.at ?? period)
    }
}
