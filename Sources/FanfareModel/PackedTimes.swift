/// The durations of a publication, its dismissal, and the time for which its topic is scheduled, in 32 bytes.
struct PackedTimes: Sendable {
    private let stale: SmallDuration
    private let storedDismissal: SmallDismissal
    private let storedExpiry: StoredExpiry
    // Behind the nine bytes of the expiry, where it fills up a word.
    private let scheduled: SmallTime

    init(staleAfter: Duration?, dismissal: DismissalTime?, expiry: Expiry, scheduledAt: FeedTime?) {
        stale = SmallDuration(staleAfter)
        storedDismissal = SmallDismissal(dismissal)
        storedExpiry = StoredExpiry(expiry)
        scheduled = SmallTime(scheduledAt)
    }

    var staleAfter: Duration? { stale.value }
    var dismissal: DismissalTime? { storedDismissal.value }
    var expiry: Expiry { storedExpiry.value }
    var scheduledAt: FeedTime? { scheduled.value }
}

/// An optional time in four bytes, in whole seconds since 1970. Times that no feed may name (`FeedTime.plausible`) are none.
private struct SmallTime: Sendable {
    private let seconds: UInt32
    private static let none = UInt32.max

    init(_ value: FeedTime?) {
        seconds = value.flatMap { $0.isPlausible ? UInt32($0.milliseconds / 1000) : nil } ?? SmallTime.none
    }

    var value: FeedTime? { seconds == SmallTime.none ? nil : FeedTime(seconds: Int64(seconds)) }
}

/// An expiry in nine bytes.
private struct StoredExpiry: Sendable {
    /// `DismissalTime.number`.
    private let dismissal: Int64
    private let renews: Bool

    init(_ expiry: Expiry) {
        dismissal = expiry.dismissal.number
        renews = expiry.renews
    }

    var value: Expiry { Expiry(renews: renews, dismissal: DismissalTime(number: dismissal)) }
}

/// An optional time of dismissal in eight bytes, in whole milliseconds.
private struct SmallDismissal: Sendable {
    private let number: Int64
    private static let none = Int64.min

    init(_ value: DismissalTime?) { number = value?.number ?? SmallDismissal.none }

    var value: DismissalTime? { number == SmallDismissal.none ? nil : DismissalTime(number: number) }
}

/// An optional duration in eight bytes, in whole milliseconds.
private struct SmallDuration: Sendable {
    private let milliseconds: Int64
    private static let none = Int64.min

    init(_ value: Duration?) { milliseconds = value?.milliseconds ?? SmallDuration.none }

    var value: Duration? { milliseconds == SmallDuration.none ? nil : .milliseconds(milliseconds) }
}
