package import Foundation

extension Date {
    /// The moment that a result's `startedAt` tells, with or without a fraction of a second: runs of less than a second take turns, too.
    package init?(startedAt text: String) {
        let format = ISO8601DateFormatter()
        if let date = format.date(from: text) {
            self = date
            return
        }
        format.formatOptions.insert(.withFractionalSeconds)
        guard let date = format.date(from: text) else { return nil }
        self = date
    }
}
