/// Tags of an event's change. A number never changes its meaning, because logs of earlier releases contain it.
private enum ChangeTag: UInt8 { case nothing, patch, contentState, fact, retraction, operation }

extension SerialWriter {
    package mutating func write(_ event: FeedEvent) {
        write(event.topic.rawValue)
        write(event.topicKind) { $0.write($1.rawValue) }
        write(event.at)
        write(event.seq) { $0.write($1) }
        write(event.lifecycle) { $0.write(byte: $1 == .start ? 0 : 1) }
        write(byte: event.isCorrection ? 1 : 0)
        write(event.id) { $0.write($1) }
        write(event.kind)
        write(event.change)
        write(event.alert) { $0.write($1) }
        write(event.app) { $0.write($1) }
    }

    package mutating func write(_ change: FeedEvent.Change) {
        switch change {
        case .nothing: write(byte: ChangeTag.nothing.rawValue)
        case .patch(let object):
            write(byte: ChangeTag.patch.rawValue)
            write(object)
        case .contentState(let object):
            write(byte: ChangeTag.contentState.rawValue)
            write(object)
        case .fact(let fact):
            write(byte: ChangeTag.fact.rawValue)
            write(fact)
        case .retraction(let id):
            write(byte: ChangeTag.retraction.rawValue)
            write(id)
        case .operation(let operation):
            write(byte: ChangeTag.operation.rawValue)
            write(operation.rawValue)
        }
    }

    package mutating func write(_ fact: Fact) {
        write(fact.id)
        write(fact.kind)
        write(fact.at)
        write(fact.values)
    }

    package mutating func write(_ alert: AlertText) {
        write(alert.title)
        write(alert.body)
        write(alert.sound) { $0.write($1) }
    }

    private mutating func write(_ line: AlertText.Line) {
        switch line {
        case .text(let text):
            write(byte: 0)
            write(text)
        case .localized(let key, let arguments):
            write(byte: 1)
            write(key)
            write(UInt64(arguments.count))
            for argument in arguments { write(argument) }
        }
    }

    package mutating func write(_ app: AppID) {
        write(app.bundleID)
        write(byte: app.environment == .production ? 0 : 1)
    }

    package mutating func write(_ rejection: FeedRejection) {
        write(rejection.location)
        write(rejection.reason)
        write(rejection.topic) { $0.write($1.rawValue) }
        write(rejection.at) { $0.write($1) }
    }
}

extension SerialReader {
    package mutating func event() throws(SerialError) -> FeedEvent {
        let topic = TopicID(try text())
        let topicKind = try optional { (reader) throws(SerialError) in TopicKind(try reader.text()) }
        let at = try time()
        let seq = try optional { (reader) throws(SerialError) in try reader.unsigned() }
        let lifecycle = try optional { (reader) throws(SerialError) in
            try reader.flag("lifecycle") ? FeedEvent.Lifecycle.end : .start
        }
        let isCorrection = try flag("correction")
        let id = try optional { (reader) throws(SerialError) in try reader.text() }
        let kind = try text()
        let change = try change()
        let alert = try optional { (reader) throws(SerialError) in try reader.alert() }
        let app = try optional { (reader) throws(SerialError) in try reader.app() }
        return FeedEvent(
            topic: topic, topicKind: topicKind, at: at, seq: seq, id: id, kind: kind, lifecycle: lifecycle,
            change: change, alert: alert, isCorrection: isCorrection, app: app)
    }

    package mutating func change() throws(SerialError) -> FeedEvent.Change {
        switch ChangeTag(rawValue: try byte()) {
        case .nothing: return .nothing
        case .patch: return .patch(try object())
        case .contentState: return .contentState(try object())
        case .fact:
            return .fact(try fact())
        case .retraction: return .retraction(of: try text())
        case .operation:
            guard let operation = FeedEvent.Operation(rawValue: try text()) else { throw .malformed("operation") }
            return .operation(operation)
        case nil: throw .malformed("change")
        }
    }

    package mutating func fact() throws(SerialError) -> Fact {
        let (id, kind) = (try text(), try text())
        return Fact(id: id, kind: kind, at: try time(), values: try object())
    }

    package mutating func alert() throws(SerialError) -> AlertText {
        let (title, body) = (try line(), try line())
        let sound = try optional { (reader) throws(SerialError) in try reader.text() }
        return AlertText(title: title, body: body, sound: sound)
    }

    private mutating func line() throws(SerialError) -> AlertText.Line {
        guard try flag("alert") else { return .text(try text()) }
        let key = try text()
        var arguments: [String] = []
        for _ in 0..<(try count()) { arguments.append(try text()) }
        return .localized(key: key, arguments: arguments)
    }

    package mutating func app() throws(SerialError) -> AppID {
        AppID(bundleID: try text(), environment: try flag("app") ? .development : .production)
    }

    package mutating func rejection() throws(SerialError) -> FeedRejection {
        let (location, reason) = (try text(), try text())
        let topic = try optional { (reader) throws(SerialError) in TopicID(try reader.text()) }
        let at = try optional { (reader) throws(SerialError) in try reader.time() }
        return FeedRejection(location: location, reason: reason, topic: topic, at: at)
    }
}
