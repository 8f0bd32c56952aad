package import FanfareModel

/// Checkpoints: a core's memory in rows, from which another core goes on deciding byte for byte.
extension DecisionCore {
    /// Begins a checkpoint of this moment. The core may be called as ever until all of it is written.
    package mutating func beginCheckpoint() {
        var writer = SerialWriter()
        writer.write(byte: CheckpointRow.core.rawValue)
        writer.write(clock)
        writer.write(serial)
        writer.write(table.nextBirth)
        orders.write(to: &writer)
        writer.write(all: ends.elements.filter { table.isOver($0) }) { writer, end in
            writer.write(end.birth)
            writer.write(UInt64(end.version))
        }
        table.beginCheckpoint(writer.bytes)
    }

    package var isWritingCheckpoint: Bool { table.checkpoint != nil }
    /// Is `true` once the checkpoint's rows are complete with those that were not taken yet.
    package var isCheckpointWhole: Bool { table.checkpoint?.isWhole == true }
    /// Topic that cannot be written, because its reducer has no serial form: the checkpoint will not be complete.
    package var unwritableTopic: TopicID? { table.checkpoint?.unwritable }

    /// Writes topics until the checkpoint has so many bytes that were not taken.
    package mutating func continueCheckpoint(bytes: Int) { table.continueCheckpoint(bytes: bytes) }
    package mutating func takeCheckpointRows() -> [[UInt8]] { table.takeCheckpointRows() }
    /// Ends the checkpoint, complete or not.
    package mutating func endCheckpoint() { table.endCheckpoint() }

    /// Takes the next row of a checkpoint into a core that has decided nothing, and has the rules of the checkpoint's moment.
    package mutating func restore(_ row: [UInt8]) throws(SerialError) {
        var reader = SerialReader(row[...])
        switch CheckpointRow(rawValue: try reader.byte()) {
        case .core: try restoreCore(from: &reader)
        case .topic:
            let topic = try Topic(reading: &reader, place: table.nextPlace) { $0.flatMap { kinds[$0] } ?? other }
            guard let place = table.restore(topic) else { throw .malformed("topic \(topic.id)") }
            schedule(place)
        case nil: throw .malformed("row")
        }
        guard reader.isAtEnd else { throw .malformed("length") }
    }

    private mutating func restoreCore(from reader: inout SerialReader) throws(SerialError) {
        clock = try reader.decidedTime()
        serial = try reader.unsigned()
        table.restore(nextBirth: try reader.unsigned())
        guard serial < .max, table.nextBirth < .max else { throw .malformed("number") }
        orders = try StandingOrders(reading: &reader)
        restoredEnds = try reader.all { (reader) throws(SerialError) in
            (birth: try reader.unsigned(), version: UInt32(clamping: try reader.unsigned()))
        }
    }

    /// Ends the restoring, after the last row.
    package mutating func endRestoring() throws(SerialError) {
        let places = Dictionary(uniqueKeysWithValues: table.living.map { (table[$0].birth, $0) })
        for (birth, version) in restoredEnds {
            guard let place = places[birth] else { throw .malformed("end") }
            ends.append(EndedTopics.Entry(birth: birth, place: UInt32(place), version: version))
        }
        restoredEnds = []
        ends.remembered = table.living.count { table[$0].shown.ended }
        guard ends.remembered == ends.count, ends.elements.allSatisfy({ table.isOver($0) }) else {
            throw .malformed("number of ends")
        }
    }
}

extension SerialReader {
    /// Reads a time that sums and differences may be made of without an overflow.
    mutating func decidedTime() throws(SerialError) -> FeedTime {
        let time = try time()
        guard time.milliseconds.magnitude < 1 << 60 else { throw .malformed("time") }
        return time
    }

    mutating func optionalDecidedTime() throws(SerialError) -> FeedTime? {
        try optional { (reader) throws(SerialError) in try reader.decidedTime() }
    }
}
