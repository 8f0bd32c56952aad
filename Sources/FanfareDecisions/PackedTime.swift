import FanfareModel

/// An optional time in eight bytes instead of sixteen: a topic has many, and there may be a million topics.
@propertyWrapper
struct PackedTime: Sendable {
    private var milliseconds: Int64
    /// No plausible time.
    private static let none = Int64.min

    init(wrappedValue: FeedTime? = nil) { milliseconds = wrappedValue?.milliseconds ?? PackedTime.none }

    var wrappedValue: FeedTime? {
        get { milliseconds == PackedTime.none ? nil : FeedTime(milliseconds: milliseconds) }
        set { milliseconds = newValue?.milliseconds ?? PackedTime.none }
    }
}
