import FanfareModel

extension FeedTime {
    /// Creates a time from Unix seconds, rounded to the nearest millisecond; `nil` outside 1970–2100.
    init?(unixSeconds: Double) {
        guard unixSeconds >= 0, unixSeconds < Double(FeedTime.plausible.upperBound.milliseconds / 1000) else {
            return nil
        }
        self.init(milliseconds: Int64((unixSeconds * 1000).rounded()))
    }

    /// Time for a match of unknown date: a day after the first plausible time, because people see a match before it begins.
    static let undated = FeedTime(seconds: 86_400)

    /// Returns the message about an implausible time.
    static func implausible(_ said: String) -> String {
        "the time \(said) lies outside 1970 to 2100 (milliseconds? Unix seconds are expected)"
    }
}
