package import FanfareModel

extension Card {
    /// Numbers of the serial forms that this release writes: one of cards, and one of cards with a start's request.
    package static let form: UInt8 = 1
    package static let formWithRequest: UInt8 = 2
    /// Greatest size of a row, more than that of a subscriber file's line. A lineup of 64 topics with ids of 512 bytes fits.
    package static let sizeMax = ByteCount.kibibytes(64)
    /// Greatest number of topics of a lineup.
    package static let topicsMax = 64

    private enum AudienceTag: UInt8 { case topic, lineup }

    /// Returns the card's serial form. Its checksum covers the serial as well, so that a row in a wrong place is noticed.
    package func bytes(serial: UInt64) -> [UInt8] {
        var writer = SerialWriter()
        writer.write(byte: request == nil ? Card.form : Card.formWithRequest)
        writer.write(byte: phase.rawValue)
        // An imported card, and one of an earlier release, has 0.
        writer.write(joinedAt.map { UInt64(bitPattern: $0.milliseconds) } ?? 0)
        writer.write(startedAt)
        writer.write(generation)
        writer.write(token)
        writer.write(subscriber) { $0.write($1) }
        writer.write(activity) { $0.write($1) }
        switch audience {
        case .topic(let topic):
            writer.write(byte: AudienceTag.topic.rawValue)
            writer.write(topic.rawValue)
        case .lineup(let topics, let favourite):
            writer.write(byte: AudienceTag.lineup.rawValue)
            writer.write(UInt64(topics.count))
            for topic in topics { writer.write(topic.rawValue) }
            writer.write(favourite) { $0.write($1.rawValue) }
        }
        writer.write(preferences) { $0.write($1) }
        writer.write(app) { $0.write($1) }
        if let request {
            writer.write(request.attributesType)
            writer.write(request.attributes)
            writer.write(request.activityKey)
            writer.write(request.alert)
            writer.write(fixed: request.number)
        }
        return LogEntry.sealed(writer.bytes[...], at: serial)
    }

    /// Reads a card back from any bytes.
    package init(_ bytes: [UInt8], serial: UInt64) throws(SerialError) {
        var reader = try SerialReader(sealed: bytes, at: serial)
        let form = try reader.byte()
        guard form <= Card.formWithRequest else { throw .newerForm(form, known: Card.formWithRequest) }
        guard form > 0, let phase = Phase(rawValue: try reader.byte()) else { throw .malformed("phase") }
        let joined = try reader.unsigned()
        let startedAt = try reader.time()
        let generation = try reader.unsigned()
        let token = try reader.bytes()
        guard (1...Subscription.tokenSizeMax.bytes).contains(token.count) else { throw .malformed("token") }
        let subscriber = try reader.optional { (reader) throws(SerialError) in try reader.text() }
        let activity = try reader.optional { (reader) throws(SerialError) in try reader.text() }
        self.init(
            subscriber: subscriber, activity: activity, token: token, audience: try Card.audience(&reader),
            startedAt: startedAt)
        preferences = try reader.optional { (reader) throws(SerialError) in try reader.preferences() }
        app = try reader.optional { (reader) throws(SerialError) in try reader.app() }
        (self.phase, self.joinedAt, self.generation) = (
            phase, joined == 0 ? nil : FeedTime(milliseconds: Int64(bitPattern: joined)), generation
        )
        if form == Card.formWithRequest {
            guard phase == .starting, let activity else { throw .malformed("request") }
            request = StartRequest(
                activity: activity, token: token, attributesType: try reader.text(), attributes: try reader.object(),
                activityKey: try reader.text(), alert: try reader.alert(), number: try reader.fixed32())
        }
        guard reader.isAtEnd else { throw .malformed("length") }
    }

    private static func audience(_ reader: inout SerialReader) throws(SerialError) -> AudienceKey {
        switch AudienceTag(rawValue: try reader.byte()) {
        case .topic: return .topic(TopicID(try reader.text()))
        case .lineup:
            let count = try reader.count()
            guard (1...topicsMax).contains(count) else { throw .malformed("lineup") }
            var topics: [TopicID] = []
            for _ in 0..<count { topics.append(TopicID(try reader.text())) }
            let favourite = try reader.optional { (reader) throws(SerialError) in TopicID(try reader.text()) }
            return .lineup(topics, favourite: favourite)
        case nil: throw .malformed("audience")
        }
    }
}

extension SerialWriter {
    fileprivate mutating func write(_ preferences: Preferences) {
        write(byte: preferences.alerts.rawValue)
        write(byte: preferences.frequentUpdates ? 1 : 0)
        write(preferences.quietHours) { writer, hours in
            let (from, until) = hours.local(utcOffset: 0)
            writer.write(UInt64(from))
            writer.write(UInt64(until))
            writer.write(byte: hours.breakthrough.rawValue)
        }
    }

    mutating func write(_ list: [UInt8]) {
        write(UInt64(list.count))
        for byte in list { write(byte: byte) }
    }
}

extension SerialReader {
    fileprivate mutating func preferences() throws(SerialError) -> Preferences {
        let alerts = try mask()
        let isFrequent = try flag("preferences")
        let hours = try optional { (reader) throws(SerialError) in
            let (from, until) = (try reader.unsigned(), try reader.unsigned())
            let breakthrough = try reader.mask()
            guard
                let hours = Preferences.QuietHours(
                    from: Int(clamping: from), until: Int(clamping: until), utcOffset: 0, breakthrough: breakthrough)
            else { throw SerialError.malformed("quiet hours") }
            return hours
        }
        return Preferences(alerts: alerts, quietHours: hours, frequentUpdates: isFrequent)
    }

    private mutating func mask() throws(SerialError) -> AlertMask {
        guard let mask = AlertMask(rawValue: try byte()) else { throw .malformed("alerts") }
        return mask
    }
}
