package import FanfareFanOut
package import FanfareModel

/// Encodes payloads as request bodies, once per payload; all pushes that carry it share the bytes.
package enum PayloadEncoder {
    /// Maximum size of a body on the device path (spec §6.2, documented by Apple).
    package static let bodySizeMax = ByteCount.kibibytes(4)
    /// Maximum size of `apns-collapse-id` (spec §2.2, documented).
    package static let collapseIDSizeMax = ByteCount.bytes(64)

    /// Returns the body of a payload as new bytes.
    package static func body(of payload: Payload) throws(PayloadFault) -> [UInt8] {
        var body: [UInt8] = []
        try encode(payload, into: &body)
        return body
    }

    /// Encodes the request body: `{"aps":{…}}`, with the content state spliced in unchanged.
    ///
    /// The body mixes two epochs: `timestamp`, `stale-date` and `dismissal-date` are Unix seconds, while dates *inside* the
    /// content state count from 2001 (spec §6.1). The encoder does not parse the state, so the state keeps its own epoch.
    ///
    /// - Parameter body: is replaced; its capacity is reused.
    /// - Throws: `PayloadFault` if a phone could not show the payload, which must then not be sent; `body` is unusable.
    static func encode(_ payload: Payload, into body: inout [UInt8]) throws(PayloadFault) {
        func fault(_ problem: PayloadFault.Problem) -> PayloadFault {
            PayloadFault(logLabel: payload.logLabel, problem: problem)
        }
        let state = payload.state
        let leavesCardAsItIs = payload.event == .end && state.isEmpty
        guard leavesCardAsItIs || isObject(state) else { throw fault(.stateIsNotAnObject) }

        body.removeAll(keepingCapacity: true)
        body.reserveCapacity(state.count + (payload.start?.attributes.count ?? 0) + 256)
        body.append(#"{"aps":{"timestamp":"#)
        body.append(decimal: payload.stamp)
        switch payload.event {
        case .update: body.append(#","event":"update""#)
        case .end: body.append(#","event":"end""#)
        case .start:
            body.append(#","event":"start""#)
            // APNs answers 200 to a start without an alert, but the phone starts nothing (spec §3.1, observed).
            guard payload.alert != nil else { throw fault(.startWithoutAlert) }
            guard let start = payload.start else { throw fault(.startWithoutAttributes) }
            if let problem = problem(with: start) { throw fault(problem) }
            append(start, to: &body)
        }
        if !leavesCardAsItIs {
            body.append(#","content-state":"#)
            body.append(contentsOf: state)
        }
        if let staleDate = payload.staleDate {
            body.append(#","stale-date":"#)
            body.append(decimal: staleDate)
        }
        if payload.event == .end, let dismissalDate = payload.dismissalDate {
            body.append(#","dismissal-date":"#)
            body.append(decimal: dismissalDate)
        }
        if let score = payload.relevanceScore {
            guard score.isFinite else { throw fault(.relevanceIsNotANumber) }
            body.append(#","relevance-score":"#)
            JSONValue.double(score).write(to: &body)
        }
        if let alert = payload.alert { append(alert, to: &body) }
        body.append("}}")

        guard body.count <= bodySizeMax.bytes else { throw fault(.tooLarge(.bytes(body.count))) }
    }

    /// Encodes the request body of a joined payload, whose state is a JSON object by construction.
    ///
    /// - Parameters:
    ///   - batch: the batch that has the payload.
    ///   - body: is replaced; its capacity is reused.
    /// - Throws: `PayloadFault` if a phone could not show the payload, which must then not be sent; `body` is unusable.
    static func encode(
        _ payload: JoinedPayload, of batch: DeliveryBatch, into body: inout [UInt8]
    ) throws(PayloadFault.Problem) {
        let alert = batch.alert(of: payload)
        if let alert, alert.json.isEmpty { append(alert.text, to: &alert.json) }
        body.removeAll(keepingCapacity: true)
        body.reserveCapacity(payload.stateSizeMax.bytes + (alert?.json.count ?? 0) + 256)
        body.append(#"{"aps":{"timestamp":"#)
        body.append(decimal: payload.stamp)
        body.append(#","event":"update","content-state":"#)
        batch.appendState(of: payload, to: &body)
        if let staleDate = payload.staleDate {
            body.append(#","stale-date":"#)
            body.append(decimal: staleDate)
        }
        if let score = payload.relevanceScore {
            guard score.isFinite else { throw .relevanceIsNotANumber }
            body.append(#","relevance-score":"#)
            JSONValue.double(score).write(to: &body)
        }
        if let alert { body.append(contentsOf: alert.json) }
        body.append("}}")
        guard body.count <= bodySizeMax.bytes else { throw .tooLarge(.bytes(body.count)) }
    }

    /// Returns `true` for a JSON object. ActivityKit decodes structs, so the phone would drop anything else although APNs answers 200.
    private static func isObject(_ json: [UInt8]) -> Bool {
        json.first == UInt8(ascii: "{") && json.last == UInt8(ascii: "}")
    }

    private static func problem(with start: Payload.Start) -> PayloadFault.Problem? {
        guard !start.attributesType.isEmpty, isObject(start.attributes) else { return .startWithoutAttributes }
        if let id = start.collapseID {
            guard (1...collapseIDSizeMax.bytes).contains(id.utf8.count),
                id.utf8.allSatisfy({ (0x21..<0x7f).contains($0) })
            else { return .collapseID(.bytes(id.utf8.count)) }
        }
        return nil
    }

    private static func append(_ start: Payload.Start, to body: inout [UInt8]) {
        body.append(#","attributes-type":"#)
        JSONValue.write(start.attributesType, to: &body)
        body.append(#","attributes":"#)
        body.append(contentsOf: start.attributes)
        // The new activity gets an update token, which its app reports (spec §3.1, documented).
        body.append(#","input-push-token":1"#)
    }

    /// Appends an alert. Its sound lies inside and localised lines are objects, while ordinary pushes have both flat (spec
    /// §3.2, documented).
    private static func append(_ alert: AlertText, to body: inout [UInt8]) {
        func append(_ line: AlertText.Line) {
            switch line {
            case .text(let text): JSONValue.write(text, to: &body)
            case .localized(let key, let arguments):
                body.append(#"{"loc-key":"#)
                JSONValue.write(key, to: &body)
                if !arguments.isEmpty {
                    body.append(#","loc-args":"#)
                    JSONValue.array(arguments.map(JSONValue.string)).write(to: &body)
                }
                body.append("}")
            }
        }
        body.append(#","alert":{"title":"#)
        append(alert.title)
        body.append(#","body":"#)
        append(alert.body)
        if let sound = alert.sound {
            body.append(#","sound":"#)
            JSONValue.write(sound, to: &body)
        }
        body.append("}")
    }

    /// Returns `apns-expiration`, in Unix seconds: the time until which APNs keeps a push for a phone that is offline.
    ///
    /// An update is worthless once its state is stale. A missed end leaves a card that shows a wrong state, so the end is
    /// kept as long as a card can be on a Lock Screen at all: 8 hours active and 4 hours ended (spec §3.4). A start must
    /// survive a moment offline and no more, because a late one shows old data. Ten minutes have worked (spec §11, observed).
    package static func expiration(of payload: Payload) -> Int64 {
        switch payload.event {
        case .update: updateExpiration(staleDate: payload.staleDate, stamp: payload.stamp)
        case .start: payload.stamp + updateKeptSeconds
        case .end: payload.stamp + cardSecondsMax
        }
    }

    /// Returns `apns-expiration` of an update.
    static func updateExpiration(staleDate: Int64?, stamp: Int64) -> Int64 {
        max(staleDate ?? 0, stamp + updateKeptSeconds)
    }

    /// Seconds for which APNs keeps starts and updates without a stale date, and the minimum for other updates; our own
    /// choice. Ten minutes bridge a tunnel and a lift.
    static let updateKeptSeconds: Int64 = 600
    static let cardSecondsMax: Int64 = 12 * 3600
}

/// Reason why a payload cannot be sent.
package struct PayloadFault: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Problem: Error, Equatable {
        case tooLarge(ByteCount)
        case stateIsNotAnObject
        case startWithoutAttributes
        case startWithoutAlert
        case collapseID(ByteCount)
        case relevanceIsNotANumber
    }

    /// Topic of the payload, or topics of its lineup.
    package let logLabel: String
    package let problem: Problem

    package var description: String {
        switch problem {
        case .tooLarge(let size):
            "\(logLabel): the payload has \(size), APNs takes \(PayloadEncoder.bodySizeMax.bytes); "
                + "shorten the content state or the attributes"
        case .stateIsNotAnObject: "\(logLabel): the content state is not a JSON object"
        case .startWithoutAttributes:
            "\(logLabel): a start needs the attributes' type and the attributes, a JSON object"
        case .startWithoutAlert: "\(logLabel): a start needs an alert; without one phones ignore it"
        case .collapseID(let size):
            "\(logLabel): a collapse id has 1 to \(PayloadEncoder.collapseIDSizeMax.bytes) printable ASCII bytes, this has \(size.bytes)"
        case .relevanceIsNotANumber: "\(logLabel): the relevance score is not a finite number"
        }
    }
}
