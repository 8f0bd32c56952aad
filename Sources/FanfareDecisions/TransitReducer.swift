public import FanfareModel

/// Reducer for a trip, from the polls of its feed: `position` if the trip was in the poll, `absent` if not.
///
/// The newest position counts. Its `arrivesAt` (Unix seconds) becomes a date in ActivityKit's encoding, in whole minutes that move
/// only on a real change of the estimate; the phone counts down to it by itself.
package struct TransitReducer: Reducer {
    /// Maximum number of stops left at which a vanished trip counts as arrived.
    private static let stopsLeftAtArrival: Int64 = 2
    /// Minimum number of missed polls after which a trip counts as arrived; a single one may be a flaw of the feed.
    private static let pollsMissedAtArrival = 2
    /// Time after which a vanished trip that is not near its last stop is withdrawn. One recorded train came back after 8 polls of
    /// a minute.
    private static let withdrawnAfter = Duration.seconds(600)

    private var arrival: Quantiser
    private var position: Fact?
    /// Unix seconds in whole minutes.
    private var arrivalShown: Int64?
    private var pollsMissed = 0
    private var missingSince: FeedTime?
    private var status: String?

    package init(arrival: Quantiser = .minute) { self.arrival = arrival }

    package mutating func follow(_ fields: [String: FieldRule]) {
        if case .quantised(let quantiser) = fields["arrivesAt"] { arrival = quantiser }
    }

    package func understands(factKind: String) -> Bool { factKind == "position" || factKind == "absent" }

    package func fault(in fact: Fact) -> String? {
        guard fact.kind == "position" else { return nil }
        guard let status = fact.values["status"]?.stringValue, Self.statuses.contains(status) else {
            return "a position needs status, one of \(Self.statuses.sorted().joined(separator: ", "))"
        }
        for key in ["line", "destination", "nextStop", "nextStopId"] {
            if let value = fact.values[key], value.stringValue == nil { return "\(key) of a position is text" }
        }
        if let stops = fact.values["stopsLeft"], stops.intValue.map({ $0 >= 0 }) != true {
            return "stopsLeft of a position is a whole number from 0"
        }
        if let arrival = fact.values["arrivesAt"] {
            guard let seconds = arrival.intValue, FeedTime.plausibleSeconds.contains(seconds) else {
                return "arrivesAt of a position is in whole Unix seconds, 1970 to 2100"
            }
        }
        return nil
    }

    private static let statuses: Set<String> = ["assigned", "enRoute", "atStop", "arriving", "cancelled"]

    package mutating func fold(_ entry: LedgerEntry) {
        // A withdrawn poll counts as if it had never been.
        guard case .fact(let fact) = entry else { return }
        if fact.kind == "position" {
            position = fact
            status = fact.values["status"]?.stringValue
            arrivalShown = fact.values["arrivesAt"]?.intValue.map { arrival.quantise($0, shown: arrivalShown) }
            pollsMissed = 0
            missingSince = nil
        } else if position != nil {
            pollsMissed += 1
            let since = missingSince ?? fact.at
            missingSince = since
            let stopsLeft = position?.values["stopsLeft"]?.intValue ?? 0
            if pollsMissed >= Self.pollsMissedAtArrival, stopsLeft <= Self.stopsLeftAtArrival {
                status = "ended"
            } else if fact.at - since >= Self.withdrawnAfter {
                status = "withdrawn"
            }
        }
    }

    package var state: JSONObject {
        guard let position else { return JSONObject() }
        var state = JSONObject()
        for key in ["line", "destination", "nextStop", "nextStopId", "stopsLeft"] { state[key] = position.values[key] }
        state["status"] = status.map(JSONValue.string)
        state["arrivesAt"] = arrivalShown.map { .double(FeedTime(seconds: $0).activityKitSeconds) }
        if status == "ended" {
            // The last position was before the last stop, but the card must not show stops that are left.
            state["stopsLeft"] = 0
            for key in ["nextStop", "nextStopId", "arrivesAt"] { state[key] = nil }
        }
        if status == "cancelled" { state["arrivesAt"] = nil }
        return state
    }

    /// The line beside the number of stops left.
    package func shortForms(of state: JSONObject) -> ShortForms? {
        guard let line = state["line"]?.stringValue, let stops = state["stopsLeft"]?.intValue else { return nil }
        return ShortForms(compactLeading: line, compactTrailing: "\(stops)", minimal: "\(line) \(stops)")
    }

    /// Is `true` once a train is assigned (the feed has no position before) and has stops left.
    package var isPresentable: Bool { (position?.values["stopsLeft"]?.intValue ?? 0) > 0 }

    package var ending: String? {
        switch status {
        case "ended": "gone from \(pollsMissed) polls, near its last stop"
        case "withdrawn": "gone for 10 minutes, far from its last stop"
        case "cancelled": "cancelled by the provider"
        default: nil
        }
    }

    package func occasion(of entry: LedgerEntry, before: JSONObject, shown: JSONObject) -> Occasion? {
        // Alerts at the last stop only: a train also arrives at every other stop.
        guard shown["status"]?.stringValue == "arriving", before["status"]?.stringValue != "arriving",
            let stopsLeft = shown["stopsLeft"]?.intValue, stopsLeft <= 1
        else { return nil }
        let line = shown["line"]?.stringValue.map { "\($0) to " } ?? ""
        let destination = shown["destination"]?.stringValue ?? "the last stop"
        return Occasion(
            .arriving, highlight: "status",
            text: AlertText(title: "Arriving", body: line + destination, sound: "default"))
    }
}

extension OccasionKind {
    /// The trip is about to reach its last stop.
    public static let arriving = OccasionKind("arriving")
}

extension FeedTime {
    fileprivate static let plausibleSeconds =
        plausible.lowerBound.milliseconds / 1000..<plausible.upperBound.milliseconds / 1000
}

// MARK: - Serial form

extension TransitReducer {
    func write(to writer: inout SerialWriter) {
        for number in [arrival.step, arrival.hysteresis, arrival.parts] { writer.write(signed: number) }
        writer.write(position) { $0.write($1) }
        writer.write(arrivalShown) { $0.write(signed: $1) }
        writer.write(UInt64(pollsMissed))
        writer.write(missingSince)
        writer.write(status)
    }

    init(reading reader: inout SerialReader) throws(SerialError) {
        arrival = Quantiser(step: try reader.signed(), hysteresis: try reader.signed(), parts: try reader.signed())
        position = try reader.optional { (reader) throws(SerialError) in try reader.fact() }
        arrivalShown = try reader.optional { (reader) throws(SerialError) in try reader.signed() }
        guard let polls = UInt32(exactly: try reader.unsigned()) else { throw .malformed("number of polls") }
        pollsMissed = Int(polls)
        missingSince = try reader.optionalDecidedTime()
        status = try reader.optionalText()
        guard arrivalShown.map({ 0..<1 << 50 ~= $0 }) ?? true else { throw .malformed("arrival") }
    }
}
