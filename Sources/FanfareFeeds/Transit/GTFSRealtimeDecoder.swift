public import FanfareModel

/// Decoder for the GTFS-Realtime polls of one feed, in the order in which they were made. Each poll reports every trip, which gives one
/// event per trip and poll. A trip that has disappeared is `absent`, which only the sequence of polls shows.
///
/// ```swift
/// var decoder = GTFSRealtimeDecoder(stopNames: ["A02N": "Inwood–207 St"])
/// decoder.decode(bytes, name: "ace", into: &items)  // once for each poll
/// ```
///
/// | trip in the poll | event |
/// |---|---|
/// | a train is assigned, stops are left | `position`; the first one starts the topic |
/// | it has started, no stop is left | `position` as last known: the train is still there, at its end |
/// | it has started, and is cancelled | `position` as last known, `cancelled`; then the trip is forgotten |
/// | planned only, or no stop yet | `planned`, not visible |
/// | missing, though it has started | `absent`, for ten minutes and one poll; then the trip is forgotten |
///
/// Trips that disappear together indicate an outage of the provider rather than arrivals: they count as running for ten minutes.
///
/// Some agencies write vehicle positions and alerts into polls of their own, which do not make any trip absent.
///
/// Any bytes may be passed: a poll that cannot be read gives a rejection, and so does an entity that cannot be read. The structures of protobuf-c
/// take at most 16 times `pollSizeMax` while the decoder reads a poll, and the trips that it makes of them about as much as those of a real poll. A
/// poll with more trips or vehicles than `tripsMax` is rejected, and at most twice as many trips run at once: the decoder keeps the last position of
/// each, and the vehicles of the last poll of their own. A trip with its position and its event takes one or two kilobytes.
///
/// Each feed needs a decoder of its own, used in one thread at a time. A copy of a decoder is independent.
public struct GTFSRealtimeDecoder: Sendable {
    /// Default maximum of trips in a poll: several times the trips of a large country at one moment.
    public static let tripsMaxDefault = 1 << 17
    /// Memory that protobuf-c may take for each byte of the largest poll. Its structures, pointers and malloc's chunks take ten times the bytes of
    /// a subway's recorded polls.
    private static let memoryFactor = 16

    /// Time after which an absent trip is forgotten. The core withdraws it after ten minutes, so later polls have no effect.
    private static let absenceMax = Duration.seconds(600)
    /// Number of polls after which an absent trip is forgotten; polls come at most twice a minute.
    private static let absentPollsMax = 120

    /// Number of trips, and share of the running ones, from which a disappearance in one poll is an outage.
    private static let outageMin = 3
    private static let outageShare = 0.5

    private struct Running {
        var position: JSONObject
        var missingSince: FeedTime?
        var missingPolls = 0
        /// The poll in which the trip disappeared with many others, while it still counts as running.
        var outageSince: FeedTime?
    }

    private let stopNames: [String: String]
    private let pollSizeMax: ByteCount
    private let tripsMax: Int
    /// Items of the poll that is being read.
    private var pending: [FeedItem] = []
    /// Number of trips of the poll that is being read that are left out, because `tripsMax` trips run.
    private var leftOut = 0
    private var running: [GTFSPoll.Key: Running] = [:]
    private var vehicles: [GTFSPoll.Key: GTFSPoll.Vehicle] = [:]

    /// Creates a decoder that knows no trip yet.
    ///
    /// - Parameters:
    ///   - stopNames: names by `stop_id`, as in a timetable's `stops.txt`; other stops are named by their ids.
    ///   - pollSizeMax: maximum size of a poll, 1 to 2^30 bytes; a larger one is rejected.
    ///   - tripsMax: maximum number of trips in a poll, and half of that of running trips, from 1 on.
    public init(
        stopNames: [String: String] = [:], pollSizeMax: ByteCount = FeedOptions.documentSizeMaxDefault,
        tripsMax: Int = GTFSRealtimeDecoder.tripsMaxDefault
    ) {
        self.stopNames = stopNames
        self.pollSizeMax = FeedOptions.bounded(pollSizeMax)
        self.tripsMax = max(1, tripsMax)
    }

    /// Appends the items of the next poll. An event's time is that of the poll's header.
    ///
    /// - Parameters:
    ///   - poll: bytes of one protobuf message, `FeedMessage`, with the whole data set.
    ///   - name: name of the poll in rejections and notices, such as the time of the request; `name#7` is its seventh entity. Each poll needs its own
    ///     name, because its entities are numbered from 1 again, unlike the lines of a stream.
    ///   - items: array that receives the new items at its end.
    public mutating func decode(_ poll: [UInt8], name: String, into items: inout [FeedItem]) {
        items += read(poll, name: name)
    }

    /// Returns the items of the next poll.
    mutating func read(_ poll: [UInt8], name: String) -> [FeedItem] {
        take(poll, name)
        let items = pending
        pending = []
        return items
    }

    private mutating func take(_ bytes: [UInt8], _ name: String) {
        guard bytes.count <= pollSizeMax.bytes else {
            return reject(name, "the poll is larger than \(pollSizeMax)")
        }
        let poll: GTFSPoll
        do throws(GTFSPoll.Defect) {
            poll = try GTFSPoll(
                bytes, memorySizeMax: pollSizeMax * GTFSRealtimeDecoder.memoryFactor, tripsMax: tripsMax)
        } catch {
            return reject(name, error.reason)
        }
        for defect in poll.defects { reject("\(name)#\(defect.entity ?? 0)", defect.reason, at: poll.time) }
        if poll.isOfSomethingElse {
            if !poll.vehicles.isEmpty { vehicles = poll.vehicles }
            return
        }
        let vehicles = poll.vehicles.isEmpty ? vehicles : poll.vehicles
        for trip in poll.trips { append(trip, vehicle: vehicles[trip.key], at: poll.time) }
        rejectLeftOut(named: name, at: poll.time)
        appendAbsent(from: poll, named: name)
    }

    private mutating func append(_ trip: GTFSPoll.Trip, vehicle: GTFSPoll.Vehicle?, at time: FeedTime) {
        let isFirst = running[trip.key] == nil
        let stops = trip.stopsLeft(at: time, vehicle)
        if trip.isCancelled, var last = running.removeValue(forKey: trip.key)?.position {
            last["status"] = "cancelled"
            append(trip.key, "position", last, at: time)
        } else if !trip.isCancelled, trip.isAssigned, let last = stops.last {
            // Trips whose keys change are absent for a while under the former ones.
            guard !isFirst || running.count < 2 * tripsMax else {
                leftOut += 1
                return
            }
            let position = values(trip, vehicle, stops, last: last)
            running[trip.key] = Running(position: position)
            append(trip.key, "position", position, at: time, lifecycle: isFirst ? .start : nil)
        } else if let known = running[trip.key] {
            running[trip.key]?.missingSince = nil
            running[trip.key]?.missingPolls = 0
            running[trip.key]?.outageSince = nil
            append(trip.key, "position", known.position, at: time)
        } else {
            let event = FeedEvent(
                topic: trip.key.topic, topicKind: .transit, at: time, id: GTFSRealtimeDecoder.id(time, of: trip.key),
                kind: "planned")
            pending.append(.event(event))
        }
    }

    /// Tells once for a poll how many of its trips are left out: a rejection for each would multiply a hostile poll.
    private mutating func rejectLeftOut(named name: String, at time: FeedTime) {
        guard leftOut > 0 else { return }
        reject(
            name, "\(running.count) trips run, as many as may, so the poll's new ones are left out: \(leftOut)",
            at: time)
        leftOut = 0
    }

    private mutating func appendAbsent(from poll: GTFSPoll, named name: String) {
        let present = poll.unreadable.union(poll.trips.map(\.key))
        // Sorted, because a dictionary has no order and the log needs one.
        let absent = running.keys.filter { !present.contains($0) }.map { (key: $0, name: $0.topic.rawValue) }
            .sorted { $0.name < $1.name }
        noteOutage(of: absent.map(\.key), from: poll, named: name)
        for (key, _) in absent {
            guard let trip = running[key] else { continue }
            let polls = trip.missingPolls + 1
            running[key]?.missingPolls = polls
            // Bounds the absent trips even if the time in the polls' headers stands still.
            let isLong = polls > GTFSRealtimeDecoder.absentPollsMax
            if let since = trip.outageSince {
                guard isLong || poll.time - since >= GTFSRealtimeDecoder.absenceMax else { continue }
                running[key]?.outageSince = nil
                running[key]?.missingPolls = 0
            }
            let since = trip.missingSince ?? poll.time
            running[key]?.missingSince = since
            append(key, "absent", [:], at: poll.time)
            if poll.time - since >= GTFSRealtimeDecoder.absenceMax || isLong && trip.outageSince == nil {
                running[key] = nil
            }
        }
    }

    /// Notes that many trips have disappeared at once.
    private mutating func noteOutage(of absent: [GTFSPoll.Key], from poll: GTFSPoll, named name: String) {
        let lost = absent.filter { running[$0].map { $0.missingPolls == 0 && $0.missingSince == nil } ?? false }
        let before = running.count - (absent.count - lost.count)
        guard lost.count >= GTFSRealtimeDecoder.outageMin,
            Double(lost.count) > Double(before) * GTFSRealtimeDecoder.outageShare
        else { return }
        for key in lost { running[key]?.outageSince = poll.time }
        let text =
            "\(lost.count) of \(before) running trips are gone at once; they count as running for ten minutes, because that is "
            + "rather an outage"
        pending.append(.noticed(FeedNotice(location: name, text: text)))
    }

    private func values(
        _ trip: GTFSPoll.Trip, _ vehicle: GTFSPoll.Vehicle?, _ stops: ArraySlice<GTFSPoll.Stop>, last: GTFSPoll.Stop
    ) -> JSONObject {
        let next = stops.first ?? last
        var values: JSONObject = [
            "line": .string(trip.route), "destination": .string(stopNames[last.id] ?? last.id),
            "status": .string(status(vehicle, next: next, stopsLeft: stops.count)),
            "nextStop": .string(stopNames[next.id] ?? next.id),
            "nextStopId": .string(next.id), "stopsLeft": .int(Int64(stops.count)),
        ]
        values["arrivesAt"] = (last.arrival ?? last.departure).map(JSONValue.int)
        return values
    }

    /// Returns the status of a trip:
    /// - `assigned`: not moving yet; the train is not reported, or stands where its trip begins (a stop without an arrival).
    /// - `atStop`: standing at its next stop.
    /// - `arriving`: on its way to its destination, the only stop left.
    /// - `enRoute`: on its way to any other stop.
    private func status(_ vehicle: GTFSPoll.Vehicle?, next: GTFSPoll.Stop, stopsLeft: Int) -> String {
        guard let vehicle else { return "assigned" }
        if vehicle.isStopped, vehicle.stopID == next.id { return next.arrival == nil ? "assigned" : "atStop" }
        return stopsLeft == 1 ? "arriving" : "enRoute"
    }

    private mutating func append(
        _ key: GTFSPoll.Key, _ kind: String, _ values: JSONObject, at time: FeedTime,
        lifecycle: FeedEvent.Lifecycle? = nil
    ) {
        let id = GTFSRealtimeDecoder.id(time, of: key)
        let fact = Fact(id: id, kind: kind, at: time, values: values)
        pending.append(
            .event(
                FeedEvent(
                    topic: key.topic, topicKind: .transit, at: time, id: id, kind: kind, lifecycle: lifecycle,
                    change: .fact(fact))))
    }

    /// Returns the id of a trip's event in a poll, from the time in the poll's header. A lineup takes equal ids and words for the same news, and
    /// two trips to one destination may arrive in one poll.
    private static func id(_ time: FeedTime, of key: GTFSPoll.Key) -> String {
        "\(key.topic)/\(time.milliseconds / 1000)"
    }

    private mutating func reject(_ location: String, _ reason: String, at: FeedTime? = nil) {
        pending.append(.rejected(FeedRejection(location: location, reason: reason, at: at)))
    }
}
