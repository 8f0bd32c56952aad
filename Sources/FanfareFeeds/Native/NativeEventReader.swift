import FanfareJSON
import FanfareModel

/// Reads one line of the native format.
///
/// ```json
/// {"topic":"match/7","at":"2026-06-11T19:00:00Z","id":"e12","kind":"goal","fact":{"id":"e12","side":"home"}}
/// ```
///
/// | member | |
/// |---|---|
/// | `topic` | required |
/// | `at` | required: RFC 3339, or Unix seconds, whole or with a fraction |
/// | `topicKind` | on the first event of a topic |
/// | `seq`, `id` | optional |
/// | `kind` | name of the event; `start` and `end` begin and end the topic |
/// | `set`, `fact`, `retracts` | at most one of: a JSON Merge Patch; an object with an `id`; the id of a fact |
/// | `operator` | order of an operator: `mute`, `unmute`, `pause`, `resume`, `republish`, `reset`, for a topic, for topic `*` (all), \
///   for topic `*` of a `topicKind`, or (not `reset`) for topic `*` of an `app` (`BUNDLE` or `BUNDLE/development`); `correct`, \
///   beside `set`, `fact` or `retracts` |
/// | `alert` | `title`, `body`, `sound` |
///
/// Other members are ignored, so that a feed may carry more; `UnknownMembers` reports those that look like typing errors.
struct NativeEventReader {
    struct Failure: Error {
        let reason: String
        var topic: TopicID?
        var at: FeedTime?
    }

    private let parser = JSONParser()

    /// Reads one line. `line` must be followed by `JSONParser.padding` readable bytes.
    ///
    /// - Parameter unknown: takes note of the members that are not read.
    func read(_ line: UnsafeRawBufferPointer, unknown: UnknownMembers) throws(Failure) -> FeedEvent {
        let root: JSONElement
        do { root = try unsafe parser.parse(line) } catch { throw Failure(reason: error.reason) }
        return try NativeEventReader.event(root, unknown: unknown)
    }

    private static func event(_ root: JSONElement, unknown: UnknownMembers) throws(Failure) -> FeedEvent {
        guard root.isObject else { throw Failure(reason: "not a JSON object") }
        var members = Members()
        for (name, value) in root.members where !members.take(name, value) { unknown.note(name) }

        let topic = try topic(members.topic)
        let at = try naming(topic, nil) { () throws(Failure) in try time(members.at) }
        return try naming(topic, at) { () throws(Failure) in try event(members, topic: topic, at: at) }
    }

    /// Adds the topic and the time to a failure in `body`.
    private static func naming<Value>(
        _ topic: TopicID, _ at: FeedTime?, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        do {
            return try body()
        } catch {
            throw Failure(reason: error.reason, topic: topic, at: at)
        }
    }

    private static func event(_ members: Members, topic: TopicID, at: FeedTime) throws(Failure) -> FeedEvent {
        let kind = try members.kind.map { (kind) throws(Failure) in try text(kind, "kind") }
        let topicKind = try members.topicKind.map { (kind) throws(Failure) in try text(kind, "topicKind") }
        let id = try members.id.map { (id) throws(Failure) in try identifier(id, "id") }
        let seq = try members.seq.map { (seq) throws(Failure) -> UInt64 in
            guard let value = seq.integer, value >= 0 else {
                throw Failure(reason: "`seq` is not a whole number from 0 on")
            }
            return UInt64(value)
        }
        let isCorrection = members.operator?.equals("correct") == true
        let change = try change(members, isCorrection: isCorrection, kind: kind, at: at)
        let alert = try members.alert.map { (alert) throws(Failure) in try text(ofAlert: alert) }
        let app = try members.app.map { (app) throws(Failure) in
            guard topic == .every, topicKind == nil, case .operation = change else {
                throw Failure(reason: "`app` is for an operator's order for topic * and no kind")
            }
            guard let id = AppID(written: try text(app, "app")) else {
                throw Failure(reason: "`app` is not written BUNDLE or BUNDLE/development")
            }
            return id
        }
        // In one expression, because an event is large, and setting its members one by one would copy it.
        return FeedEvent(
            topic: topic, topicKind: topicKind.map { TopicKind($0) }, at: at, seq: seq, id: id,
            kind: kind ?? (isCorrection ? "correct" : change.name),
            lifecycle: kind == "start" ? .start : kind == "end" ? .end : nil, change: change, alert: alert,
            isCorrection: isCorrection, app: app)
    }

    private static func change(
        _ members: Members, isCorrection: Bool, kind: String?, at: FeedTime
    ) throws(Failure) -> FeedEvent.Change {
        switch (members.set, members.fact, members.retracts) {
        case (nil, nil, nil):
            guard let order = members.operator else { return .nothing }
            guard !isCorrection else {
                throw Failure(reason: "`operator` corrects without `set`, `fact` or `retracts`")
            }
            guard let operation = order.string.flatMap(FeedEvent.Operation.init) else {
                let known = FeedEvent.Operation.allCases.map(\.rawValue).joined(separator: ", ")
                throw Failure(reason: "`operator` is none of \(known), correct")
            }
            return .operation(operation)
        case _ where members.operator != nil && !isCorrection:
            throw Failure(reason: "beside `set`, `fact` or `retracts` the only `operator` is correct")
        case (let patch?, nil, nil):
            guard patch.isObject else { throw Failure(reason: "`set` is not an object") }
            return .patch(patch.object)
        case (nil, let fact?, nil):
            guard fact.isObject else { throw Failure(reason: "`fact` is not an object") }
            guard let id = fact["id"] else { throw Failure(reason: "`fact` has no `id`") }
            let ownKind = try fact["kind"].map { (kind) throws(Failure) in try text(kind, "fact.kind") }
            guard let factKind = ownKind ?? kind else {
                throw Failure(reason: "neither `kind` nor `fact.kind` says what the fact is")
            }
            var values = fact.object
            values["id"] = nil
            values["kind"] = nil
            return .fact(Fact(id: try identifier(id, "fact.id"), kind: factKind, at: at, values: values))
        case (nil, nil, let retracted?): return .retraction(of: try identifier(retracted, "retracts"))
        default: throw Failure(reason: "more than one of `set`, `fact` and `retracts`")
        }
    }

    private static func topic(_ element: JSONElement?) throws(Failure) -> TopicID {
        guard let element else { throw Failure(reason: "no `topic`") }
        let topic = try text(element, "topic")
        // A feed does not know the rules, which may allow less: the core says so.
        guard topic.utf8.count <= TopicID.sizeMax.bytes else {
            throw Failure(reason: "`topic` has \(topic.utf8.count) bytes, at most \(TopicID.sizeMax.bytes) are allowed")
        }
        return TopicID(topic)
    }

    private static func time(_ element: JSONElement?) throws(Failure) -> FeedTime {
        guard let element else { throw Failure(reason: "no `at`") }
        if element.isString {
            guard let time = element.time else {
                throw Failure(reason: "`at` is not an RFC 3339 time such as 2026-06-11T19:00:00Z")
            }
            guard time.isPlausible else { throw Failure(reason: FeedTime.implausible(time.description)) }
            return time
        }
        guard let seconds = element.number else {
            throw Failure(reason: "`at` is neither an RFC 3339 time nor Unix seconds")
        }
        guard let time = FeedTime(unixSeconds: seconds) else {
            let said = element.integer.map { String($0) } ?? String(seconds)
            throw Failure(reason: FeedTime.implausible(said))
        }
        return time
    }

    private static func text(ofAlert alert: JSONElement) throws(Failure) -> AlertText {
        guard let title = alert["title"] else { throw Failure(reason: "`alert` has no `title`") }
        let body = try alert["body"].map { (body) throws(Failure) in try line(body, "alert.body", orEmpty: true) }
        let sound = try alert["sound"].map { (sound) throws(Failure) in try text(sound, "alert.sound") }
        return AlertText(title: try line(title, "alert.title"), body: body ?? "", sound: sound)
    }

    /// Returns a line of words, or of `{"loc-key":…,"loc-args":[…]}` as in ActivityKit.
    private static func line(
        _ element: JSONElement, _ name: String, orEmpty: Bool = false
    ) throws(Failure) -> AlertText.Line {
        guard element.isObject else { return .text(try text(element, name, orEmpty: orEmpty)) }
        guard let key = element["loc-key"] else { throw Failure(reason: "`\(name)` has no `loc-key`") }
        var arguments: [String] = []
        if let list = element["loc-args"] {
            guard list.isArray else { throw Failure(reason: "`\(name).loc-args` is not an array") }
            for argument in list.elements {
                arguments.append(try text(argument, "\(name).loc-args", orEmpty: true))
            }
        }
        return .localized(key: try text(key, "\(name).loc-key"), arguments: arguments)
    }

    private static func text(
        _ element: JSONElement, _ name: String, orEmpty: Bool = false
    ) throws(Failure) -> String {
        guard let text = element.string else { throw Failure(reason: "`\(name)` is not a string") }
        guard orEmpty || !text.isEmpty else { throw Failure(reason: "`\(name)` is empty") }
        return text
    }

    /// Returns an id, which providers write as text or as a whole number.
    private static func identifier(_ element: JSONElement, _ name: String) throws(Failure) -> String {
        if let digits = element.digits { return digits }
        guard element.isString else { throw Failure(reason: "`\(name)` is neither a string nor a whole number") }
        return try text(element, name)
    }
}

/// Members of a line that the reader uses. The last value of a repeated name counts; `null` counts as absent.
private struct Members {
    var topic, topicKind, at, seq, id, kind, set, fact, retracts, `operator`, alert, app: JSONElement?

    /// - Returns: `true` if the reader uses the name.
    @inline(__always)
    mutating func take(_ name: JSONElement, _ element: JSONElement) -> Bool {
        let value = element.isNull ? nil : element
        // Switches by length, because at most three names share one.
        switch name.byteCount {
        case 2 where name.equals("at"): at = value
        case 2 where name.equals("id"): id = value
        case 3 where name.equals("seq"): seq = value
        case 3 where name.equals("set"): set = value
        case 3 where name.equals("app"): app = value
        case 4 where name.equals("kind"): kind = value
        case 4 where name.equals("fact"): fact = value
        case 5 where name.equals("topic"): topic = value
        case 5 where name.equals("alert"): alert = value
        case 8 where name.equals("operator"): `operator` = value
        case 8 where name.equals("retracts"): retracts = value
        case 9 where name.equals("topicKind"): topicKind = value
        default: return false
        }
        return true
    }
}

extension FeedEvent.Change {
    /// Default kind of an event whose feed gives it none.
    fileprivate var name: String {
        switch self {
        case .nothing: "event"
        case .patch: "patch"
        case .contentState: "state"
        case .operation(let operation): operation.rawValue
        case .fact(let fact): fact.kind
        case .retraction: "retraction"
        }
    }
}
