import FanfareModel

/// Ids of a subscriber's activity and install as a line spells them; `nil` for those that it does not have.
package struct SubscriberNames: Sendable, Equatable {
    package var activity: String?
    package var subscriber: String?

    package init(activity: String? = nil, subscriber: String? = nil) {
        self.activity = activity
        self.subscriber = subscriber
    }
}

/// Reader for one line of a subscriber file; `SubscriberFile` describes its format.
struct SubscriberLine {
    /// Description of a line's fault, for people; never contains the token.
    struct Fault: Error {
        let text: String
    }

    private typealias Word = Slice<UnsafeRawBufferPointer>

    /// Names that the last line has.
    private(set) var names = SubscriberNames()
    /// Audiences by hash of their word, because many lines repeat the same one. Cleared when full.
    private var audiences: [UInt64: (word: [UInt8], key: AudienceKey)] = [:]
    private static let audiencesMax = 65_536
    /// Values of the hexadecimal digits by byte; 255 for other bytes.
    private static let nibbles: [UInt8] = (UInt8.min...UInt8.max).map {
        Character(UnicodeScalar($0)).hexDigitValue.map(UInt8.init) ?? 255
    }

    /// - Returns: `nil` for a blank line or a comment.
    mutating func read(_ line: UnsafeRawBufferPointer) throws(Fault) -> Subscription? {
        var rest = unsafe line[...]
        guard let first = unsafe SubscriberLine.next(&rest), unsafe first.first != UInt8(ascii: "#") else { return nil }
        let audience = try unsafe audience(first)
        guard let second = unsafe SubscriberLine.next(&rest) else {
            throw Fault(text: "the token is missing after the topic")
        }
        let token = try unsafe SubscriberLine.token(second)
        let id = ActivityID(token.keyedHash)
        var result = Subscription(audience: audience, activity: id, subscriber: id.rawValue, token: token)
        var wishes = Wishes()
        while let word = unsafe SubscriberLine.next(&rest) { try unsafe wishes.take(word, into: &result) }
        result.preferences = wishes.preferences
        names = wishes.names
        result.app = wishes.app
        result.startedAt = wishes.startedAt
        return result
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    private static func next(_ rest: inout Word) -> Word? {
        guard let start = unsafe rest.firstIndex(where: { !isBlank($0) }) else { return nil }
        let end = unsafe rest[start...].firstIndex(where: isBlank) ?? rest.endIndex
        defer { unsafe rest = rest[end...] }
        return unsafe rest[start..<end]
    }

    private mutating func audience(_ word: Word) throws(Fault) -> AudienceKey {
        let hash = unsafe word.keyedHash
        if let known = audiences[hash], unsafe known.word.elementsEqual(word) { return known.key }
        let topics = unsafe word.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        var ids: [TopicID] = []
        for index in unsafe topics.indices {
            let topic = unsafe topics[index]
            guard unsafe (1...TopicID.sizeMax.bytes).contains(topic.count),
                let name = unsafe String(validating: topic, as: UTF8.self)
            else { throw Fault(text: "a topic's id is 1 to \(TopicID.sizeMax) of UTF-8") }
            ids.append(TopicID(name))
        }
        guard ids.count <= AudienceKey.topicsMax, Set(ids).count == ids.count else {
            throw Fault(text: "a lineup has at most \(AudienceKey.topicsMax) topics, each of them once")
        }
        let key = ids.count == 1 ? AudienceKey.topic(ids[0]) : .lineup(ids)
        if audiences.count == SubscriberLine.audiencesMax { audiences.removeAll(keepingCapacity: true) }
        audiences[hash] = unsafe (Array(word), key)
        return key
    }

    private static func token(_ word: Word) throws(Fault) -> [UInt8] {
        guard unsafe word.count.isMultiple(of: 2), unsafe (2...2 * Subscription.tokenSizeMax.bytes).contains(word.count)
        else {
            throw Fault(text: unsafe "a token is 1 to \(Subscription.tokenSizeMax) in hex, not \(word.count) digits")
        }
        var isHex = true
        let token = unsafe nibbles.withUnsafeBufferPointer { nibbles in
            unsafe [UInt8](unsafeUninitializedCapacity: word.count / 2) { bytes, count in
                var seen: UInt8 = 0
                var index = unsafe word.startIndex
                for position in unsafe 0..<word.count / 2 {
                    let high = unsafe nibbles[Int(word.base[index])]
                    let low = unsafe nibbles[Int(word.base[index + 1])]
                    seen |= high | low
                    unsafe bytes[position] = high << 4 | low & 15
                    index += 2
                }
                isHex = seen < 16
                count = unsafe word.count / 2
            }
        }
        guard isHex else { throw Fault(text: "the token is not in hex") }
        return token
    }

    /// Values of the words after the token.
    private struct Wishes {
        private var alerts = AlertMask.all
        private var quietHours: Preferences.QuietHours?
        private var frequentUpdates = false
        private(set) var app: AppID?
        private(set) var startedAt: FeedTime?
        private(set) var names = SubscriberNames()
        private var hasPreferences = false

        var preferences: Preferences? {
            hasPreferences
                ? Preferences(alerts: alerts, quietHours: quietHours, frequentUpdates: frequentUpdates) : nil
        }

        mutating func take(_ word: Word, into subscription: inout Subscription) throws(Fault) {
            guard let text = unsafe String(validating: word, as: UTF8.self) else {
                throw Fault(text: "a word is not UTF-8")
            }
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count == 2 ? String(parts[1]) : ""
            switch (parts[0], value) {
            case ("frequent", "") where parts.count == 1:
                frequentUpdates = true
                hasPreferences = true
            case ("activity", _) where !value.isEmpty:
                subscription.activity = ActivityID(hashing: value)
                names.activity = value
            case ("subscriber", _) where !value.isEmpty:
                subscription.subscriber = ActivityID(hashing: value).rawValue
                names.subscriber = value
            case ("favourite", _):
                guard case .lineup(let topics, _) = subscription.audience, topics.contains(TopicID(value)) else {
                    throw Fault(text: "favourite: expected a topic of the lineup")
                }
                subscription.audience = .lineup(topics, favourite: TopicID(value))
            case ("app", _):
                guard let known = AppID(written: value) else {
                    throw Fault(text: "app: expected a bundle id, and perhaps /development")
                }
                app = known
            case ("started", _):
                let time = FeedTime(rfc3339: value) ?? Double(value).flatMap(FeedTime.init(unixSeconds:))
                guard let time, time.isPlausible else {
                    throw Fault(text: "started: expected a time such as 2026-06-13T14:00:00Z, or Unix seconds")
                }
                startedAt = time
            case ("alerts", _):
                guard let mask = AlertMask(named: value) else {
                    throw Fault(text: "alerts: expected all, essential or none")
                }
                alerts = mask
                hasPreferences = true
            case ("quiet", _):
                guard let hours = Preferences.QuietHours(written: value) else {
                    throw Fault(
                        text:
                            "quiet: expected local hours and what they are ahead of UTC, and if not essential "
                            + "alerts, what breaks through, such as 22:00-07:00+02:00 or 22:00-07:00-05:00/none")
                }
                quietHours = hours
                hasPreferences = true
            default:
                // Without the word, which may be a misplaced token.
                throw Fault(
                    text:
                        "after the token, expected activity=, subscriber=, favourite=, alerts=, quiet=, frequent, app= or "
                        + "started=")
            }
        }
    }
}

extension AlertMask {
    fileprivate init?(named name: some StringProtocol) {
        switch name {
        case "all": self = .all
        case "essential": self = .essential
        case "none": self = .none
        default: return nil
        }
    }
}

extension Preferences.QuietHours {
    /// Parses `22:00-07:00+02:00`, optionally followed by `/all`, `/essential` or `/none`.
    fileprivate init?(written text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let hours = Array(parts[0].utf8)
        guard hours.count == 17, hours[5] == UInt8(ascii: "-"),
            [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(hours[11]),
            let from = Self.minutes(hours[0..<5]), let until = Self.minutes(hours[6..<11]),
            let offset = Self.minutes(hours[12..<17])
        else { return nil }
        var breakthrough = AlertMask.essential
        if parts.count == 2 {
            guard let named = AlertMask(named: parts[1]) else { return nil }
            breakthrough = named
        }
        self.init(
            from: from, until: until, utcOffset: hours[11] == UInt8(ascii: "-") ? -offset : offset,
            breakthrough: breakthrough)
    }

    /// Returns the minutes since midnight of `hh:mm`.
    private static func minutes(_ text: ArraySlice<UInt8>) -> Int? {
        let digits = text.map { Int($0) - 48 }
        guard digits.count == 5, text[text.startIndex + 2] == UInt8(ascii: ":"),
            [0, 1, 3, 4].allSatisfy({ (0...9).contains(digits[$0]) }), digits[3] < 6
        else { return nil }
        return (digits[0] * 10 + digits[1]) * 60 + digits[3] * 10 + digits[4]
    }
}
