public import FanfareModel

/// Rules for an alert: its class, its bucket, the time for which it is fresh, and its words.
public struct AlertRule: Sendable, Hashable {
    /// Class of the alert. Preferences filter by the class, and a push carries the alert of the highest class if an activity has missed several.
    public var `class`: AlertClass
    /// Bucket of one topic for this kind of alert.
    public var bucket: TokenBucket.Size
    /// Time after the occasion during which the alert may still reach a phone.
    public var freshFor: Duration
    /// Words of the alert; `nil` uses those of the reducer, which has none for an occasion that only the rules define.
    public var words: Words?

    /// Text of an alert, made of the state it rides on and the fact that caused it.
    public struct Words: Sendable, Hashable {
        /// Bold first line.
        public var title: Template
        /// Text below the title; left out if empty.
        public var body: Template
        /// Name of a sound file in the app, or `default`; `nil`: no sound.
        public var sound: String?

        /// Creates words. The core fills in their holes when it decides the alert, and the push carries that text.
        public init(title: Template, body: Template = "", sound: String? = nil) {
            self.title = title
            self.body = body
            self.sound = sound
        }
    }

    /// Creates a rule from the sizes of its bucket.
    ///
    /// - Parameters:
    ///   - class: weight of the alert beside others.
    ///   - burst: alerts of this kind that one topic may send at once.
    ///   - refill: time after which the topic may send one more.
    ///   - freshFor: time after which the alert is too late for a phone; its update then leaves silently.
    ///   - words: title, body and sound; `nil`: the reducer's words, or the feed's.
    public init(_ class: AlertClass, burst: Int, refill: Duration, freshFor: Duration, words: Words? = nil) {
        self.class = `class`
        bucket = TokenBucket.Size(burst: burst, refill: refill)
        self.freshFor = freshFor
        self.words = words
    }
}
