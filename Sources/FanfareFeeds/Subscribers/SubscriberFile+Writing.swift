package import FanfareModel

extension SubscriberFile {
    /// Appends a line that is read back as the same subscription and names.
    ///
    /// - Returns: `false` for a subscription that the format cannot express, such as one with a blank in an id. Nothing was appended.
    package static func write(
        _ subscription: Subscription, _ names: SubscriberNames, to bytes: inout [UInt8]
    ) -> Bool {
        let topics = subscription.audience.topics
        let ids = [names.activity, names.subscriber, subscription.app?.bundleID].compactMap(\.self)
        guard let first = topics.first, takes(topic: first.rawValue),
            topics.allSatisfy({ isWord($0.rawValue) && !$0.rawValue.utf8.contains(UInt8(ascii: ",")) }),
            ids.allSatisfy({ isWord($0) }), subscription.app?.bundleID.utf8.contains(UInt8(ascii: "/")) != true
        else { return false }
        let start = bytes.count
        bytes += topics.map(\.rawValue).joined(separator: ",").utf8
        bytes.append(UInt8(ascii: " "))
        for byte in subscription.token {
            bytes.append(digits[Int(byte >> 4)])
            bytes.append(digits[Int(byte & 15)])
        }
        if let activity = names.activity { bytes += " activity=\(activity)".utf8 }
        if let subscriber = names.subscriber { bytes += " subscriber=\(subscriber)".utf8 }
        if case .lineup(_, let favourite?) = subscription.audience { bytes += " favourite=\(favourite)".utf8 }
        if let preferences = subscription.preferences { bytes += words(of: preferences).utf8 }
        if let app = subscription.app { bytes += " app=\(app.bundleID)/\(app.environment.rawValue)".utf8 }
        if let startedAt = subscription.startedAt {
            bytes += " started=".utf8
            startedAt.write(to: &bytes)
        }
        guard bytes.count - start <= lineSizeMax.bytes else {
            bytes.removeSubrange(start...)
            return false
        }
        bytes.append(UInt8(ascii: "\n"))
        return true
    }

    private static let digits = Array("0123456789abcdef".utf8)

    private static func isWord(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0 > UInt8(ascii: " ") }
    }

    private static func words(of preferences: Preferences) -> String {
        var words = " alerts=\(preferences.alerts)"
        if let hours = preferences.quietHours {
            let (from, until) = hours.local(utcOffset: 0)
            words += " quiet=\(clock(from))-\(clock(until))+00:00/\(hours.breakthrough)"
        }
        return preferences.frequentUpdates ? words + " frequent" : words
    }

    private static func clock(_ minutes: Int) -> String {
        func two(_ number: Int) -> String { (number < 10 ? "0" : "") + "\(number)" }
        return "\(two(minutes / 60)):\(two(minutes % 60))"
    }
}
