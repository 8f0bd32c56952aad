public import FanfareCore

/// Turns payloads into request bodies. Done once per payload; every push that carries it shares the bytes.
public enum PayloadEncoder {
    /// Bytes; what APNs takes on the device path (spec §6.2, documented by Apple).
    public static let bodyBytesMax = 4096

    /// The request body: `{"aps":{…}}`, the content state spliced in as it stands.
    ///
    /// Two epochs meet here: `timestamp`, `stale-date` and `dismissal-date` are Unix seconds, while dates *inside* the
    /// content state count from 2001 (spec §6.1). The state is never looked into, so it keeps its own.
    ///
    /// - Throws: when the payload could not be shown by a phone; such a payload must not be sent.
    public static func body(of payload: Payload) throws(PayloadFault) -> [UInt8] {
        let leavesCardAsItIs = payload.event == .end && payload.state.isEmpty
        // ActivityKit decodes a struct, so anything but an object would be dropped on the phone while APNs says 200.
        guard leavesCardAsItIs || (payload.state.first == UInt8(ascii: "{") && payload.state.last == UInt8(ascii: "}"))
        else { throw PayloadFault(subject: payload.subject, problem: .stateIsNotAnObject) }
        let event: StaticString
        switch payload.event {
        case .update: event = "update"
        case .end: event = "end"
        case .start: throw PayloadFault(subject: payload.subject, problem: .startWithoutAttributes)
        }

        var body: [UInt8] = []
        body.reserveCapacity(payload.state.count + 256)
        body.append(#"{"aps":{"timestamp":"#)
        body.append(decimal: payload.stamp)
        body.append(#","event":""#)
        body.append(event)
        body.append(#"""#)
        if !leavesCardAsItIs {
            body.append(#","content-state":"#)
            body.append(contentsOf: payload.state)
        }
        if let staleDate = payload.staleDate {
            body.append(#","stale-date":"#)
            body.append(decimal: staleDate)
        }
        if payload.event == .end, let dismissalDate = payload.dismissalDate {
            body.append(#","dismissal-date":"#)
            body.append(decimal: dismissalDate)
        }
        if let alert = payload.alert {
            body.append(#","alert":{"title":"#)
            JSONValue.write(alert.title, to: &body)
            body.append(#","body":"#)
            JSONValue.write(alert.body, to: &body)
            // Inside `alert`, unlike ordinary pushes (spec §3.1).
            if let sound = alert.sound {
                body.append(#","sound":"#)
                JSONValue.write(sound, to: &body)
            }
            body.append("}")
        }
        body.append("}}")

        guard body.count <= bodyBytesMax else {
            throw PayloadFault(subject: payload.subject, problem: .tooLarge(bytes: body.count))
        }
        return body
    }

    /// `apns-expiration`, Unix seconds: until when APNs keeps a push for a phone that is away.
    ///
    /// An update is worth nothing once its state is stale. A missed end leaves a card that lies, so it is kept as long as
    /// a card can be on a Lock Screen at all: 8 hours active and 4 hours ended (spec §3.4).
    public static func expiration(of payload: Payload) -> Int64 {
        switch payload.event {
        case .update: max(payload.staleDate ?? 0, payload.stamp + updateKeptSeconds)
        case .start: payload.stamp + updateKeptSeconds
        case .end: payload.stamp + cardSecondsMax
        }
    }

    /// For updates that do not say when they grow stale, and the least for those which do; ours to choose. Ten minutes
    /// bridge a tunnel and a lift.
    static let updateKeptSeconds: Int64 = 600
    static let cardSecondsMax: Int64 = 12 * 3600
}

/// Why a payload cannot be sent.
public struct PayloadFault: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Problem: Sendable, Equatable {
        case tooLarge(bytes: Int)
        case stateIsNotAnObject
        case startWithoutAttributes
    }

    /// The topic, or the lineup's topics.
    public let subject: String
    public let problem: Problem

    public var description: String {
        switch problem {
        case .tooLarge(let bytes):
            "\(subject): the payload has \(bytes) bytes, APNs takes \(PayloadEncoder.bodyBytesMax); "
                + "shorten the content state"
        case .stateIsNotAnObject: "\(subject): the content state is not a JSON object"
        case .startWithoutAttributes: "\(subject): a start needs attributes, which this payload does not carry"
        }
    }
}

extension [UInt8] {
    mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { append(contentsOf: $0) }
    }

    mutating func append(decimal value: Int64) {
        append(contentsOf: String(value).utf8)
    }
}
