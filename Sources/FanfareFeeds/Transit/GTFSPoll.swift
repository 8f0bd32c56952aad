import CFanfareGTFS
import FanfareModel

/// One GTFS-Realtime poll, reduced to the parts that Fanfare reads. Only this file sees protobuf-c's structures.
struct GTFSPoll {
    /// Key of a trip. Two trains can run under one trip id on one day.
    struct Key: Hashable {
        let tripID: String
        let startDate: String
        let trainID: String

        var topic: TopicID {
            // Keeps the shape of paths for feeds without train ids or dates.
            let parts = [startDate, tripID, trainID].map { $0.isEmpty ? "-" : percentEncoded($0) }
            return TopicID("trip/" + parts.joined(separator: "/"))
        }
    }

    struct Stop {
        /// Id of the stop; `#7` if the feed gives only its place in the trip.
        let id: String
        /// Unix seconds. A trip's first stop has only a departure; its last one may have only an arrival.
        let arrival: Int64?
        let departure: Int64?
    }

    struct Vehicle {
        /// Stop at which the vehicle stands, or to which it is heading.
        let stopID: String
        let isStopped: Bool
    }

    struct Trip {
        let key: Key
        let route: String
        /// Is `true` if a real train runs the trip; otherwise it is only planned.
        let isAssigned: Bool
        /// Is `true` if the trip does not run, or not to its end.
        let isCancelled: Bool
        /// Stops to come, and passed ones if the provider keeps those in the poll.
        let stops: [Stop]
        let keepsPassedStops: Bool
    }

    struct Defect: Error {
        /// Position of the entity in the poll, from 1; `nil` for the poll itself.
        var entity: Int?
        let reason: String
    }

    private(set) var time = FeedTime(milliseconds: 0)
    private(set) var trips: [Trip] = []
    private(set) var vehicles: [Key: Vehicle] = [:]
    /// Trips that the poll names, in entities that cannot be read.
    private(set) var unreadable: Set<Key> = []
    /// Is `true` if the poll has entities and none is a trip update: vehicles or alerts.
    private(set) var isOfSomethingElse = false
    private(set) var defects: [Defect] = []

    /// - Parameters:
    ///   - memorySizeMax: maximum memory of protobuf-c's structures.
    ///   - tripsMax: maximum number of trip updates, and of vehicles.
    init(_ bytes: [UInt8], memorySizeMax: ByteCount, tripsMax: Int) throws(Defect) {
        var overBudget: Int32 = 0
        guard let message = unsafe fanfare_gtfs_unpack(bytes, bytes.count, memorySizeMax.bytes, &overBudget) else {
            let reason =
                overBudget != 0
                ? "the poll would take more than \(memorySizeMax) of memory"
                : "not a GTFS-Realtime message, or not the whole of one"
            throw Defect(reason: reason)
        }
        defer { unsafe fanfare_gtfs_release(message) }
        guard let header = unsafe message.pointee.header, unsafe header.pointee.has_timestamp != 0 else {
            throw Defect(reason: "the poll's header has no timestamp")
        }
        // 0 FULL_DATASET, 1 DIFFERENTIAL. A poll of changes alone says nothing of the trips that it leaves out.
        guard unsafe header.pointee.has_incrementality == 0 || header.pointee.incrementality == 0 else {
            throw Defect(reason: "the poll has changes alone (DIFFERENTIAL); Fanfare reads whole polls (FULL_DATASET)")
        }
        let seconds = unsafe header.pointee.timestamp
        guard let time = FeedTime(unixSeconds: Double(seconds)) else {
            throw Defect(reason: FeedTime.implausible(String(seconds)))
        }
        self.time = time
        var updates = 0
        var positions = 0
        for number in unsafe 0..<message.pointee.n_entity {
            guard let entity = unsafe message.pointee.entity[number], unsafe entity.pointee.is_deleted == 0 else {
                continue
            }
            if unsafe entity.pointee.trip_update != nil { updates += 1 }
            if unsafe entity.pointee.vehicle != nil { positions += 1 }
            guard max(updates, positions) <= tripsMax else {
                throw Defect(reason: "the poll has more than \(tripsMax) \(updates > tripsMax ? "trips" : "vehicles")")
            }
            do throws(Defect) {
                if let update = unsafe entity.pointee.trip_update {
                    unsafe trips.append(try GTFSPoll.trip(update))
                }
                if let vehicle = unsafe entity.pointee.vehicle { try unsafe add(vehicle) }
            } catch {
                defects.append(Defect(entity: number + 1, reason: error.reason))
                if let trip = unsafe entity.pointee.trip_update?.pointee.trip, let key = try? unsafe GTFSPoll.key(trip)
                {
                    unreadable.insert(key)
                }
            }
        }
        isOfSomethingElse = unsafe updates == 0 && message.pointee.n_entity > 0
    }

    private static func trip(_ update: UnsafePointer<FanfareGtfs__TripUpdate>) throws(Defect) -> Trip {
        guard let descriptor = unsafe update.pointee.trip else { throw Defect(reason: "the trip update names no trip") }
        var stops: [Stop] = []
        unsafe stops.reserveCapacity(update.pointee.n_stop_time_update)
        for number in unsafe 0..<update.pointee.n_stop_time_update {
            guard let stop = unsafe update.pointee.stop_time_update[number] else { continue }
            // 0 SCHEDULED, 1 SKIPPED, 2 NO_DATA.
            if unsafe stop.pointee.has_schedule_relationship != 0, unsafe stop.pointee.schedule_relationship == 1 {
                continue
            }
            var id = try unsafe text(stop.pointee.stop_id, "stop_id")
            if id.isEmpty, unsafe stop.pointee.has_stop_sequence != 0 { id = unsafe "#\(stop.pointee.stop_sequence)" }
            unsafe stops.append(
                Stop(id: id, arrival: time(stop.pointee.arrival), departure: time(stop.pointee.departure)))
        }
        // Only NYCT's extension can mark a trip as merely planned.
        let isAssigned = unsafe descriptor.pointee.nyct.map { unsafe $0.pointee.is_assigned != 0 } ?? true
        // 3 CANCELED, 7 DELETED; all others run.
        let isCancelled =
            unsafe descriptor.pointee.has_schedule_relationship != 0
            && [3, 7].contains(descriptor.pointee.schedule_relationship)
        return unsafe Trip(
            key: try key(descriptor), route: try text(descriptor.pointee.route_id, "route_id"), isAssigned: isAssigned,
            isCancelled: isCancelled, stops: stops, keepsPassedStops: descriptor.pointee.nyct == nil)
    }

    private mutating func add(_ vehicle: UnsafePointer<FanfareGtfs__VehiclePosition>) throws(Defect) {
        guard let descriptor = unsafe vehicle.pointee.trip else { return }
        // `current_status`: 0 INCOMING_AT, 1 STOPPED_AT, 2 IN_TRANSIT_TO, which is also the default.
        let isStopped = unsafe vehicle.pointee.has_current_status != 0 && vehicle.pointee.current_status == 1
        unsafe vehicles[try GTFSPoll.key(descriptor)] = Vehicle(
            stopID: try GTFSPoll.text(vehicle.pointee.stop_id, "stop_id"), isStopped: isStopped)
    }

    private static func key(_ descriptor: UnsafePointer<FanfareGtfs__TripDescriptor>) throws(Defect) -> Key {
        let tripID = try unsafe text(descriptor.pointee.trip_id, "trip_id")
        guard !tripID.isEmpty else { throw Defect(reason: "the entity has no `trip_id`") }
        return unsafe Key(
            tripID: tripID, startDate: try text(descriptor.pointee.start_date, "start_date"),
            trainID: try text(descriptor.pointee.nyct?.pointee.train_id, "train_id"))
    }

    /// Returns the text of a field; empty if the field is absent.
    private static func text(_ pointer: UnsafePointer<CChar>?, _ name: String) throws(Defect) -> String {
        guard let pointer = unsafe pointer else { return "" }
        guard let text = unsafe String(validatingCString: pointer) else {
            throw Defect(reason: "`\(name)` is not valid UTF-8")
        }
        return text
    }

    /// Returns the time of a stop event, or `nil` if it has none; some feeds write 0 for that.
    private static func time(_ event: UnsafePointer<FanfareGtfs__StopTimeEvent>?) -> Int64? {
        guard let event = unsafe event, unsafe event.pointee.has_time != 0, unsafe event.pointee.time > 0,
            unsafe FeedTime(unixSeconds: Double(event.pointee.time)) != nil
        else { return nil }
        return unsafe event.pointee.time
    }
}

extension GTFSPoll.Trip {
    /// Returns the stops that the train has not left by then, including one at which it is reported to stand.
    func stopsLeft(at time: FeedTime, _ vehicle: GTFSPoll.Vehicle?) -> ArraySlice<GTFSPoll.Stop> {
        guard keepsPassedStops else { return stops[...] }
        return stops.drop { stop in
            if let vehicle, vehicle.isStopped, vehicle.stopID == stop.id { return false }
            return (stop.departure ?? stop.arrival).map { FeedTime(seconds: $0) < time } ?? false
        }
    }
}
