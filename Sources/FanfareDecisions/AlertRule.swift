public import FanfareModel

/// Rules for an alert: how often, for how long, and in which words.
public struct AlertRule: Sendable, Hashable {
    /// Class of the alert. Preferences filter by it, and the highest class rides if an activity missed several alerts.
    public var `class`: AlertClass
    /// Bucket of one topic for this kind of alert.
    public var bucket: TokenBucket.Size
    /// Time after the occasion during which the alert may still reach a phone.
    public var freshFor: Duration
    /// Words of the alert; `nil` uses the reducer's. An occasion that only the rules define has no others.
    public var words: Words?

    /// Text of an alert, made of the state it rides on and the fact that caused it.
    public struct Words: Sendable, Hashable {
        /// Bold first line.
        public var title: Template
        /// Text below the title; left out if empty.
        public var body: Template
        /// Name of a sound file in the app, or `default`; `nil`: no sound.
        public var sound: String?

        /// Creates words. They are filled in when the alert is decided, and the push carries that text.
        public init(title: Template, body: Template = "", sound: String? = nil) {
            self.title = title
            self.body = body
            self.sound = sound
        }
    }

    /// - Parameters:
    ///   - class: weight of the alert beside others.
    ///   - burst: alerts of this kind that one topic may send at once.
    ///   - refill: time after which the topic may send one more.
    ///   - freshFor: time after which the alert is too late for a phone; its update then goes silently.
    ///   - words: title, body and sound; `nil`: the reducer's words, or the feed's.
    public init(_ class: AlertClass, burst: Int, refill: Duration, freshFor: Duration, words: Words? = nil) {
        self.class = `class`
        bucket = TokenBucket.Size(burst: burst, refill: refill)
        self.freshFor = freshFor
        self.words = words
    }
}
