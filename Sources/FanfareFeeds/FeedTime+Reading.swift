import FanfareModel

extension FeedTime {
    /// `nil` outside 1970–2100. Rounded to the nearest millisecond.
    init?(unixSeconds: Double) {
        guard unixSeconds >= 0, unixSeconds < Double(FeedTime.plausible.upperBound.milliseconds / 1000) else {
            return nil
        }
        self.init(milliseconds: Int64((unixSeconds * 1000).rounded()))
    }

    /// Where a match is put of which nobody knows when it was. A day after the first moment there is, since people begin to see it
    /// before it begins.
    static let undated = FeedTime(seconds: 86_400)

    /// The one sentence for a time that cannot be.
    static func implausible(_ said: String) -> String {
        "the time \(said) lies outside 1970 to 2100 (milliseconds? Unix seconds are expected)"
    }
}
