import FanfareModel
import Testing

@testable import FanfareFeeds

/// Protobuf's wire format, as much as a poll needs.
private struct Wire {
    private(set) var bytes: [UInt8] = []

    private mutating func varint(_ value: UInt64) {
        var value = value
        while value >= 0x80 {
            bytes.append(UInt8(value & 0x7F) | 0x80)
            value >>= 7
        }
        bytes.append(UInt8(value))
    }

    mutating func number(_ field: UInt64, _ value: UInt64) {
        varint(field << 3)
        varint(value)
    }

    mutating func data(_ field: UInt64, _ value: [UInt8]) {
        varint(field << 3 | 2)
        varint(UInt64(value.count))
        bytes += value
    }

    mutating func text(_ field: UInt64, _ value: String) { data(field, Array(value.utf8)) }

    mutating func message(_ field: UInt64, _ build: (inout Wire) -> Void) {
        var inner = Wire()
        build(&inner)
        data(field, inner.bytes)
    }
}

private struct Train {
    var id = "044200_A..N"
    var train = "1A 0722 FAR/207"
    var isAssigned = true
    /// Stop ids and arrivals; 0 is a stop without one.
    var stops: [(String, UInt64)] = []
    var vehicle: (stop: String, status: UInt64?)?
    /// Another agency's: without NYCT's extension.
    var isPlain = false
    /// Of the trip, and of single stops: `schedule_relationship`.
    var relationship: UInt64?
    var stopRelationships: [String: UInt64] = [:]
    /// Its stops are in the poll.
    var isInPoll = true
}

private func poll(_ time: UInt64?, _ trains: [Train]) -> [UInt8] {
    func describe(_ train: Train, _ wire: inout Wire) {
        wire.text(1, train.id)
        wire.text(3, "20240208")
        if let relationship = train.relationship { wire.number(4, relationship) }
        wire.text(5, "A")
        if train.isPlain { return }
        wire.message(1001) {
            $0.text(1, train.train)
            if train.isAssigned { $0.number(2, 1) }
            $0.number(3, 1)
        }
    }
    var wire = Wire()
    wire.message(1) {
        $0.text(1, "1.0")
        if let time { $0.number(3, time) }
    }
    for train in trains {
        if train.isInPoll {
            wire.message(2) {
                $0.text(1, "update")
                $0.message(3) { update in
                    update.message(1) { describe(train, &$0) }
                    for (stop, arrival) in train.stops {
                        update.message(2) {
                            if arrival > 0 { $0.message(2) { $0.number(2, arrival) } }
                            $0.message(3) { $0.number(2, arrival + 30) }
                            $0.text(4, stop)
                            if let relationship = train.stopRelationships[stop] { $0.number(5, relationship) }
                        }
                    }
                }
            }
        }
        guard let vehicle = train.vehicle else { continue }
        wire.message(2) {
            $0.text(1, "vehicle")
            $0.message(4) {
                $0.message(1) { describe(train, &$0) }
                if let status = vehicle.status { $0.number(4, status) }
                $0.text(7, vehicle.stop)
            }
        }
    }
    return wire.bytes
}

@Suite struct TransitTests {
    private let start: UInt64 = 1_707_397_155

    private func items(_ polls: [[UInt8]]) throws -> [FeedItem] {
        let folder = try Folder()
        for (number, bytes) in polls.enumerated() { try folder.write("polls/\(100 + number).pb", bytes) }
        try folder.write(
            "gtfs-static/stops.txt",
            "stop_id,stop_name,stop_lat\r\nA02N,\"Inwood, 207 \"\"St\"\"\",1\r\nA03N,Dyckman St,2\r\n")
        let feed = try Feed(paths: [folder.path])
        #expect(feed.skippedFiles.isEmpty)
        return feed.all().map(\.item)
    }

    @Test func theTransitDecoderReadsAPosition() throws {
        let train = Train(
            stops: [("A05N", start + 60), ("A03N", start + 120), ("A02N", start + 200)], vehicle: ("A05N", 1))
        let event = try #require(try items([poll(start, [train])]).first?.event)
        #expect(event.topic == TopicID("trip/20240208/044200_A..N/1A%200722%20FAR%2F207"))
        #expect(event.topicKind == .transit)
        #expect(event.lifecycle == .start)
        #expect(event.at == FeedTime(seconds: Int64(start)))
        #expect(event.kind == "position")
        #expect(event.fact?.id == "\(event.topic)/1707397155")
        let expected: JSONObject = [
            "line": "A", "destination": "Inwood, 207 \"St\"", "status": "atStop", "nextStop": "A05N",
            "nextStopId": "A05N",
            "stopsLeft": 3, "arrivesAt": .int(Int64(start) + 200),
        ]
        #expect(event.fact?.values == expected)
    }

    /// A header whose time stands still must not keep every trip that ever ran.
    @Test func aTripIsForgottenThoughTheFeedsClockStandsStill() throws {
        let train = Train(stops: [("A05N", start + 60)], vehicle: ("A05N", 1))
        let absent = try items([poll(start, [train])] + Array(repeating: poll(start, []), count: 200))
            .compactMap(\.event).filter { $0.kind == "absent" }
        #expect(absent.count == 121)
    }

    @Test func theTransitDecoderTellsWhatATrainDoes() throws {
        func status(_ train: Train) throws -> JSONValue? {
            try items([poll(start, [train])]).first?.event?.fact?.values["status"]
        }
        let two = [("A03N", start + 60), ("A02N", start + 120)]
        #expect(try status(Train(stops: two)) == "assigned")
        #expect(try status(Train(stops: [("A03N", 0)] + two.dropFirst(), vehicle: ("A03N", 1))) == "assigned")
        #expect(try status(Train(stops: two, vehicle: ("A03N", 1))) == "atStop")
        #expect(try status(Train(stops: two, vehicle: ("A05N", 1))) == "enRoute")
        #expect(try status(Train(stops: two, vehicle: ("A03N", nil))) == "enRoute")
        #expect(try status(Train(stops: two, vehicle: ("A03N", 0))) == "enRoute")
        #expect(try status(Train(stops: [two[1]], vehicle: ("A03N", 1))) == "arriving")
        #expect(try status(Train(stops: [two[1]], vehicle: ("A02N", 1))) == "atStop")
    }

    @Test func aTripStartsWhenAssignedWithStops() throws {
        let stops = [("A02N", start + 600)]
        let events = try items([
            poll(start, [Train(isAssigned: false, stops: stops)]), poll(start + 60, [Train()]),
            poll(start + 120, [Train(stops: stops)]), poll(start + 180, [Train(stops: stops)]),
        ]).compactMap(\.event)
        #expect(events.map(\.kind) == ["planned", "planned", "position", "position"])
        #expect(events.map(\.lifecycle) == [nil, nil, .start, nil])
        #expect(events.prefix(2).allSatisfy { $0.change == .nothing })
    }

    /// A poll says nothing of its stops any more: it will not come, and that is what people wait to know.
    @Test(arguments: [3, 7] as [UInt64], [true, false]) func aTripThatIsCancelledEnds(
        relationship: UInt64, isPlain: Bool
    ) throws {
        let train = Train(stops: [("A03N", start + 600), ("A02N", start + 900)], isPlain: isPlain)
        var cancelled = Train(isPlain: isPlain)
        cancelled.relationship = relationship
        let events = try items([
            poll(start, [train]), poll(start + 60, [cancelled]), poll(start + 120, [cancelled]),
            poll(start + 180, [train]),
        ]).compactMap(\.event)
        #expect(events.map(\.kind) == ["position", "position", "planned", "position"])
        #expect(events.map(\.lifecycle) == [.start, nil, nil, .start])
        #expect(events[1].fact?.values["status"] == "cancelled")
        #expect(events[1].fact?.values["nextStopId"] == "A03N")
        // One that nobody has seen running is not shown as cancelled.
        #expect(try items([poll(start, [cancelled])]).compactMap(\.event).map(\.kind) == ["planned"])
    }

    /// Other agencies keep them in the poll; NYCT does not, and its trains may stand longer than they were to.
    @Test func stopsThatWerePassedOrAreSkippedAreNotToCome() throws {
        var train = Train(stops: [
            ("A05N", start - 300), ("A04N", start - 20), ("A03N", start + 60), ("A02N", start + 200),
        ])
        func next(_ train: Train) throws -> [JSONValue?] {
            let values = try items([poll(start, [train])]).first?.event?.fact?.values
            return [values?["nextStopId"], values?["stopsLeft"]]
        }
        #expect(try next(train) == ["A05N", 4])
        train.isPlain = true
        #expect(try next(train) == ["A04N", 3], "it leaves in ten seconds")
        train.vehicle = ("A05N", 1)
        #expect(try next(train) == ["A05N", 4], "it still stands there")
        train.vehicle = nil
        train.stopRelationships = ["A04N": 1, "A02N": 1]
        #expect(try next(train) == ["A03N", 1])
        // At its end it is still there.
        let events = try items([poll(start, [train]), poll(start + 600, [train])]).compactMap(\.event)
        #expect(events.map(\.kind) == ["position", "position"])
        #expect(events[1].fact?.values == events[0].fact?.values)
    }

    /// Some agencies write positions of vehicles into files of their own, which say nothing of who is absent.
    @Test func aPollOfVehiclesAloneSaysWhereTheyAreAndNotWhoIsMissing() throws {
        let train = Train(stops: [("A03N", start + 600), ("A02N", start + 900)], isPlain: true)
        var vehicle = Train(vehicle: ("A03N", 1), isPlain: true)
        vehicle.isInPoll = false
        let events = try items([
            poll(start, [train]), poll(start + 15, [vehicle]), poll(start + 30, [train]), poll(start + 45, []),
        ]).compactMap(\.event)
        #expect(events.map(\.kind) == ["position", "position", "absent"])
        #expect(events.compactMap { $0.fact?.values["status"] } == ["assigned", "atStop"])
    }

    @Test func aTrainAtItsEndIsNotAbsent() throws {
        let train = Train(stops: [("A02N", start + 10)])
        let events = try items([poll(start, [train]), poll(start + 60, [Train()])]).compactMap(\.event)
        #expect(events.map(\.kind) == ["position", "position"])
        #expect(events[1].fact?.values == events[0].fact?.values)
        #expect(events[1].fact?.id != events[0].fact?.id)
    }

    @Test func absenceIsToldForTenMinutesAndOnePoll() throws {
        let train = Train(stops: [("A02N", start + 6000)])
        let polls = [poll(start, [train])] + (1...20).map { poll(start + 60 * UInt64($0), []) }
        let events = try items(polls).compactMap(\.event)
        #expect(events.first?.kind == "position")
        let absent = events.dropFirst()
        #expect(absent.allSatisfy { $0.kind == "absent" && $0.fact?.values == [:] && $0.fact?.kind == "absent" })
        // First missed at start + 60 s; ten minutes later is start + 660 s.
        #expect(
            absent.map { $0.at.milliseconds / 1000 - Int64(start) } == Array(stride(from: 60, through: 660, by: 60)))
    }

    /// An agency's server that has lost its trips sends polls without them.
    @Test func trainsThatVanishTogetherGoOnForTenMinutes() throws {
        let trains = (0..<10).map { Train(id: "T\($0)", stops: [("A02N", start + 6000)]) }
        let back = try items([
            poll(start, trains), poll(start + 60, []), poll(start + 120, []), poll(start + 180, trains),
            poll(start + 240, Array(trains.dropFirst())),
        ])
        #expect(back.compactMap(\.event).map(\.kind) == Array(repeating: "position", count: 29) + ["absent"])
        #expect(back.compactMap(\.notice).count == 1)
        #expect(back.compactMap(\.notice).first?.contains("10 of 10 running trips are gone at once") == true)
        let gone = try items([poll(start, trains)] + (1...25).map { poll(start + 60 * $0, []) }).compactMap(\.event)
        let absent = gone.filter { $0.kind == "absent" }.map { $0.at.milliseconds / 1000 - Int64(start) }
        #expect(absent.first == 660 && absent.last == 1260 && absent.count == 110, "\(absent)")
        // Trains that arrive one after the other are no outage.
        let last = try items((0..<10).map { poll(start + 60 * $0, Array(trains.dropFirst(Int($0)))) })
        #expect(last.compactMap(\.event).count { $0.kind == "absent" } == 45 && last.compactMap(\.notice).isEmpty)
    }

    @Test func aTripWhoseEntityCannotBeReadIsThere() throws {
        let train = Train(stops: [("A02N", start + 6000)])
        var torn = poll(start + 60, [train])
        let stop = try #require(torn.indices.first { torn[$0...].starts(with: Array("A02N".utf8)) })
        torn[stop] = 0xFF
        let items = try items([poll(start, [train]), torn])
        #expect(items.compactMap(\.rejection?.reason) == ["`stop_id` is not valid UTF-8"])
        #expect(items.compactMap(\.event).map(\.kind) == ["position"])
    }

    @Test func aPollOfChangesAloneIsRefused() throws {
        let train = Train(stops: [("A02N", start + 6000)])
        var header = Wire()
        header.message(1) {
            $0.text(1, "2.0")
            $0.number(2, 1)
            $0.number(3, start + 60)
        }
        let items = try items([poll(start, [train]), header.bytes])
        #expect(items.compactMap(\.rejection?.reason).first?.contains("DIFFERENTIAL") == true)
        #expect(items.compactMap(\.event).map(\.kind) == ["position"])
    }

    @Test func aTrainMayComeBack() throws {
        let train = Train(stops: [("A02N", start + 6000)])
        let events = try items([
            poll(start, [train]), poll(start + 60, []), poll(start + 120, [train]), poll(start + 180, []),
        ]).compactMap(\.event)
        #expect(events.map(\.kind) == ["position", "absent", "position", "absent"])
        #expect(events.map(\.lifecycle) == [.start, nil, nil, nil])
    }

    @Test func trainsUnderOneTripIDAreTwoTopics() throws {
        let stops = [("A02N", start + 600)]
        let events = try items([poll(start, [Train(train: "one", stops: stops), Train(train: "two", stops: stops)])])
            .compactMap(\.event)
        #expect(Set(events.map(\.topic)).count == 2)
    }

    @Test func absencesComeInAStableOrder() throws {
        let trains = (0..<30).map { Train(train: "train \($0)", stops: [("A02N", start + 6000)]) }
        let events = try items([poll(start, trains), poll(start + 60, []), poll(start + 700, [])]).compactMap(\.event)
        let absent = events.filter { $0.kind == "absent" }.map(\.topic.rawValue)
        #expect(absent.count == 30)
        #expect(absent == absent.sorted())
    }

    @Test func theTransitDecoderRejectsBrokenPollsAndGoesOn() throws {
        let train = Train(stops: [("A02N", start + 6000)])
        let whole = poll(start + 60, [train])
        var badText = Train(stops: [("A02N", start + 6000)])
        badText.id = ""
        let items = try items([
            poll(start, [train]), Array(whole.dropLast(5)), poll(nil, [train]), poll(1_707_397_155_000, [train]),
            poll(start + 120, [badText, train]),
        ])
        let reasons = items.compactMap(\.rejection?.reason)
        #expect(reasons.count == 4)
        #expect(reasons[0] == "not a GTFS-Realtime message, or not the whole of one")
        #expect(reasons[1] == "the poll's header has no timestamp")
        #expect(reasons[2].contains("milliseconds?"))
        #expect(reasons[3] == "the entity has no `trip_id`")
        #expect(
            items.compactMap(\.rejection).map { $0.location.split(separator: "/").last } == [
                "101.pb", "102.pb", "103.pb", "104.pb#1",
            ])
        #expect(items.compactMap(\.event).map(\.kind) == ["position", "position"])
    }

    @Test func memoryOfAPollIsBounded() throws {
        // Two bytes on the wire, a structure each in memory.
        var many = poll(start, [])
        for _ in 0..<50_000 { many += [0x12, 0x02, 0x0A, 0x00] }
        let defect = #expect(throws: GTFSPoll.Defect.self) {
            try GTFSPoll(many, memorySizeMax: .mebibytes(1), tripsMax: 1)
        }
        #expect(defect?.reason == "the poll would take more than 1048576 bytes of memory")
        #expect(throws: Never.self) { try GTFSPoll(many, memorySizeMax: .mebibytes(64), tripsMax: 1) }
    }

    @Test func memoryOfAPollHasWhatMallocAddsToShortTexts() {
        // 99 KB are requested for the structures and for a thousand texts of three bytes, which take 32 each.
        var many = poll(start, [])
        for _ in 0..<1000 { many += [0x12, 0x04, 0x0A, 0x02, 0x61, 0x62] }
        #expect(throws: GTFSPoll.Defect.self) { try GTFSPoll(many, memorySizeMax: .bytes(120_000), tripsMax: 1) }
        #expect(throws: Never.self) { try GTFSPoll(many, memorySizeMax: .bytes(200_000), tripsMax: 1) }
    }

    @Test func aPollWithTooManyTripsIsRejectedAndMakesNoTripAbsent() {
        let trains = (0..<4).map { Train(id: "T\($0)", stops: [("A02N", start + 60)]) }
        var decoder = GTFSRealtimeDecoder(tripsMax: 3)
        var items: [FeedItem] = []
        decoder.decode(poll(start, Array(trains.dropLast())), name: "first", into: &items)
        #expect(items.compactMap(\.event?.kind) == ["position", "position", "position"])
        items = []
        decoder.decode(poll(start + 20, trains), name: "second", into: &items)
        #expect(items.map(\.rejection?.description) == ["second: the poll has more than 3 trips"])
        items = []
        let vehicles = trains.map { Train(id: $0.id, vehicle: ("A02N", 1), isInPoll: false) }
        decoder.decode(poll(start + 40, vehicles), name: "third", into: &items)
        #expect(items.map(\.rejection?.description) == ["third: the poll has more than 3 vehicles"])
    }

    /// Absent trips are known for ten minutes, and each poll may have other trips.
    @Test func newTripsWaitUntilTripsThatAreGoneAreForgotten() {
        func trains(_ ids: String...) -> [Train] { ids.map { Train(id: $0, stops: [("A02N", start + 6000)]) } }
        var decoder = GTFSRealtimeDecoder(tripsMax: 2)
        var items: [FeedItem] = []
        decoder.decode(poll(start, trains("A", "B")), name: "first", into: &items)
        decoder.decode(poll(start + 20, trains("B", "C")), name: "second", into: &items)
        decoder.decode(poll(start + 40, trains("C", "D")), name: "third", into: &items)
        #expect(items.count { $0.event?.lifecycle == .start } == 4 && items.allSatisfy { $0.rejection == nil })
        items = []
        decoder.decode(poll(start + 60, trains("D", "E")), name: "fourth", into: &items)
        let told = "fourth: 4 trips run, as many as may, so the poll's new ones are left out: 1"
        #expect(items.compactMap(\.rejection?.description) == [told])
        decoder.decode(poll(start + 700, trains("D", "E")), name: "fifth", into: &items)
        items = []
        decoder.decode(poll(start + 720, trains("D", "E")), name: "sixth", into: &items)
        #expect(items.compactMap(\.event?.lifecycle) == [.start])
        #expect(items.compactMap(\.event?.kind) == ["position", "position"])
    }

    @Test func anIncompleteTimetableIsNamed() throws {
        let folder = try Folder()
        let file = try folder.write("a.pb", poll(start, [Train(stops: [("A02N", start)])]))
        try folder.write("gtfs-static/stops.txt", "id,name\n")
        let error = #expect(throws: FeedError.self) { try Feed(paths: [file]) }
        #expect(error?.reason == "no columns stop_id and stop_name in its first line")
    }

    @Test func namesOfStopsAreReadFromATimetablesBytes() throws {
        let table = "stop_id,stop_code,stop_name\r\nA02N,1,\"Inwood, 207 \"\"St\"\"\"\r\nA03N,2,\r\n"
        let names = try GTFSRealtimeDecoder.stopNames(ofStops: Array(table.utf8))
        #expect(names == ["A02N": "Inwood, 207 \"St\""])
        let error = #expect(throws: FeedError.self) { try GTFSRealtimeDecoder.stopNames(ofStops: Array("id\n".utf8)) }
        #expect(error?.description == "stops.txt: no columns stop_id and stop_name in its first line")
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func noBytesCrashTheTransitDecoder(seed: UInt64) throws {
        var dice = SplitMix64(seed: seed)
        let stops = [("A03N", start + 60), ("A02N", start + 120)]
        var bytes = poll(start, [Train(stops: stops, vehicle: ("A03N", 1)), Train(train: "two", stops: stops)])
        for _ in 0..<Int.random(in: 1...8, using: &dice) {
            bytes[Int.random(in: 0..<bytes.count, using: &dice)] = UInt8.random(in: 0...255, using: &dice)
        }
        let folder = try Folder()
        let file = try folder.write("a.pb", bytes)
        let feed = try Feed(paths: [file], options: FeedOptions(format: .gtfsRealtime))
        for (_, item) in feed.all() {
            if let event = item.event { #expect(event.at.isPlausible, "seed \(seed)") }
        }
    }

    @Test func pollsAsBytesGiveTheItemsOfTheirFiles() throws {
        let train = Train(stops: [("A03N", start + 60), ("A02N", start + 120)], vehicle: ("A03N", 1))
        let polls = [poll(start, [train]), Array(poll(start + 20, [train]).dropLast(3)), poll(start + 40, [])]
        var decoder = GTFSRealtimeDecoder(stopNames: ["A02N": "Inwood, 207 \"St\"", "A03N": "Dyckman St"])
        var decoded: [FeedItem] = []
        for (number, bytes) in polls.enumerated() { decoder.decode(bytes, name: "poll \(number)", into: &decoded) }
        let read = try items(polls)
        #expect(decoded.compactMap(\.event) == read.compactMap(\.event))
        #expect(decoded.compactMap(\.event?.kind) == ["position", "absent"])
        #expect(decoded.compactMap(\.rejection?.reason) == read.compactMap(\.rejection?.reason))
        #expect(decoded.compactMap(\.rejection?.location) == ["poll 1"])
    }

    @Test func aPollBeyondItsBoundIsRejected() {
        let bytes = poll(start, [Train(stops: [("A02N", start + 60)])])
        var decoder = GTFSRealtimeDecoder(pollSizeMax: .bytes(20))
        var items: [FeedItem] = []
        decoder.decode(bytes, name: "ace", into: &items)
        #expect(items.map(\.rejection?.reason) == ["the poll is larger than 20 bytes"])
    }

    @Test func theTransitDecoderReadsCommaSeparatedValues() {
        var records = CommaSeparated(Array("\u{FEFF}a,\"b,\nc\",\"d\"\"e\"\r\n,\nlast".utf8))
        #expect(records.next() == ["a", "b,\nc", "d\"e"])
        #expect(records.next() == ["", ""])
        #expect(records.next() == ["last"])
        #expect(records.next() == nil)
    }
}
