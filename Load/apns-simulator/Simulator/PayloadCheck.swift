internal import LoadJSON

/// Facts of a good body, equal for every token that gets it.
struct PayloadFacts {
    enum Event: UInt8 { case start, update, end }

    let event: Event
    /// `aps.timestamp`, Unix seconds.
    let stamp: Int64
    /// Content state as canonical JSON; `nil` for an end that keeps the last state.
    let state: [UInt8]?
    /// Title and body of the alert as canonical JSON; `nil` for a silent push.
    let alert: [UInt8]?
}

/// Reads a body as strictly as a phone does (spec §3). APNs answers 200 to nearly everything and the phone then drops a wrong body
/// silently; here the fault is named.
enum PayloadCheck {
    static let bodyBytesMax = 4096
    /// Phones drop a stamp that is further ahead, according to Apple's staff (spec §3.3).
    static let stampAheadMaxSeconds: Int64 = 8 * 3600

    /// Fault of a body, as text for people.
    struct Fault: Error, Hashable {
        let text: String
    }

    static func read(_ body: [UInt8]) throws(Fault) -> PayloadFacts {
        let root: JSON
        do { root = try JSON(parsing: body) } catch { throw Fault(text: "not JSON: \(error)") }
        guard let aps = root["aps"]?.objectValue else { throw Fault(text: "no object aps") }
        let event: PayloadFacts.Event
        switch aps["event"]?.stringValue {
        case "start": event = .start
        case "update": event = .update
        case "end": event = .end
        default: throw Fault(text: "aps.event is not start, update or end")
        }
        let stamp = try date(aps, "timestamp", whole: true)
        guard let stamp else { throw Fault(text: "no aps.timestamp") }
        let state = aps["content-state"]
        if state == nil, event != .end { throw Fault(text: "no aps.content-state") }
        if let state, state.objectValue == nil { throw Fault(text: "aps.content-state is no object") }
        // A stamp may be ahead of the clock that the dates follow, but not further than phones accept.
        if let stale = try date(aps, "stale-date"), stale <= stamp - PayloadCheck.stampAheadMaxSeconds {
            throw Fault(text: "aps.stale-date is more than 8 h before aps.timestamp")
        }
        if try date(aps, "dismissal-date") != nil, event != .end {
            throw Fault(text: "aps.dismissal-date belongs to an end")
        }
        if let score = aps["relevance-score"], score.doubleValue == nil {
            throw Fault(text: "aps.relevance-score is no number")
        }
        if event == .start {
            guard let type = aps["attributes-type"]?.stringValue, !type.isEmpty else {
                throw Fault(text: "a start without aps.attributes-type")
            }
            guard aps["attributes"]?.objectValue != nil else { throw Fault(text: "a start without aps.attributes") }
            // APNs accepts a start without an alert and the phone drops it; observed (spec §3.1).
            if aps["alert"] == nil { throw Fault(text: "a start without aps.alert") }
        }
        try checkUpdateSource(aps, event)
        return PayloadFacts(
            event: event, stamp: stamp, state: state.map(canonical), alert: try alert(aps["alert"]).map(canonical))
    }

    private static func canonical(_ value: JSON) -> [UInt8] {
        var bytes: [UInt8] = []
        value.write(to: &bytes)
        return bytes
    }

    /// Reads a moment in Unix seconds. `dismissal-date` may be 0 or any past time. A `timestamp` must be whole seconds, because the effect
    /// of fractions is not documented (spec §3.3).
    private static func date(_ aps: JSON.Object, _ key: String, whole: Bool = false) throws(Fault) -> Int64? {
        guard let value = aps[key] else { return nil }
        guard let seconds = value.doubleValue, seconds >= 0 else { throw Fault(text: "aps.\(key) is no Unix time") }
        guard seconds < Double(unixSecondsEnd) else { throw Fault(text: "aps.\(key) is not in seconds: milliseconds?") }
        if whole, value.intValue == nil { throw Fault(text: "aps.\(key) is not in whole seconds") }
        return Int64(seconds)
    }

    /// Checks how a new activity gets its updates: by a token or a channel, in starts only (spec §3.1, §5.3).
    private static func checkUpdateSource(_ aps: JSON.Object, _ event: PayloadFacts.Event) throws(Fault) {
        let (token, channel) = (aps["input-push-token"], aps["input-push-channel"])
        if token != nil || channel != nil, event != .start {
            throw Fault(text: "aps.input-push-token and -channel belong to a start")
        }
        if token != nil, channel != nil { throw Fault(text: "aps.input-push-token beside aps.input-push-channel") }
        if let token, token.intValue != 1 { throw Fault(text: "aps.input-push-token is not 1") }
        if let channel {
            let digits = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=".utf8)
            guard let id = channel.stringValue, !id.isEmpty, id.utf8.allSatisfy(digits.contains) else {
                throw Fault(text: "aps.input-push-channel is not base64")
            }
        }
    }

    /// Reads title and body, each plain or localised. The sound is not part of the alert's text.
    private static func alert(_ value: JSON?) throws(Fault) -> JSON? {
        guard let value else { return nil }
        guard let alert = value.objectValue else { throw Fault(text: "aps.alert is no object") }
        // Ordinary pushes have localised keys at this level; their effect on a Live Activity is not documented (spec §3.2).
        for key in ["title-loc-key", "loc-key"] where alert[key] != nil {
            throw Fault(text: "aps.alert.\(key): localised lines of a Live Activity are objects")
        }
        if let sound = alert["sound"], sound.stringValue == nil { throw Fault(text: "aps.alert.sound is no file name") }
        var members: [JSON.Object.Member] = []
        for key in ["title", "body"] {
            let text = alert[key]
            guard text?.stringValue != nil || text?["loc-key"]?.stringValue != nil else {
                throw Fault(text: "aps.alert.\(key) is neither a text nor an object with loc-key")
            }
            if let arguments = text?["loc-args"] {
                guard arguments.arrayValue?.allSatisfy({ $0.stringValue != nil }) == true else {
                    throw Fault(text: "aps.alert.\(key).loc-args is no array of texts")
                }
            }
            if let text { members.append(JSON.Object.Member(key: key, value: text)) }
        }
        return JSON.Object(members).map(JSON.object)
    }
}
