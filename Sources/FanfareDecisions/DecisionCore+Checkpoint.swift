package import FanfareModel

/// Checkpoints: a core's memory in rows, from which another core goes on deciding byte for byte.
extension DecisionCore {
    /// Begins a checkpoint of this moment. The owner may call the core as usual until the whole checkpoint is written.
    package mutating func beginCheckpoint() {
        var writer = SerialWriter()
        writer.write(byte: CheckpointRow.core.rawValue)
        writer.write(now)
        writer.write(serial)
        writer.write(table.nextBirth)
        orders.write(to: &writer)
        table.beginCheckpoint(writer.bytes)
    }

    package var isWritingCheckpoint: Bool { table.checkpoint != nil }
    /// Is `true` once the checkpoint's rows are complete with those that were not taken yet.
    package var isCheckpointWhole: Bool { table.checkpoint?.isWhole == true }
    /// Is `true` if the checkpoint was given up: all topics have changed at once, or too many before their rows were taken.
    package var hasGivenUpCheckpoint: Bool { table.checkpoint?.isGivenUp == true }
    /// Topic that cannot be written, because its reducer has no serial form: the checkpoint will not be complete.
    package var unwritableTopic: TopicID? { table.checkpoint?.unwritable }

    /// Writes topics until the rows of the checkpoint that were not taken have this size.
    package mutating func continueCheckpoint(upTo size: ByteCount) { table.continueCheckpoint(upTo: size) }
    package mutating func takeCheckpointRows() -> [[UInt8]] { table.takeCheckpointRows() }
    /// Ends the checkpoint, complete or not.
    package mutating func endCheckpoint() { table.endCheckpoint() }

    /// Takes the next row of a checkpoint into a core that has decided nothing, and has the rules of the checkpoint's moment.
    package mutating func restore(_ row: [UInt8]) throws(SerialError) {
        var reader = SerialReader(row[...])
        switch CheckpointRow(rawValue: try reader.byte()) {
        case .core: try restoreCore(from: &reader)
        case .topic:
            var isAsShown = true
            let topic = try Topic(reading: &reader, place: table.nextPlace, isAsShown: &isAsShown) {
                $0.flatMap { kinds[$0] } ?? other
            }
            guard let place = table.restore(topic) else { throw .malformed("topic \(topic.id)") }
            if !isAsShown { shownOtherwise.append((topic.id, topic.birth, topic.shown.version)) }
            schedule(place)
        case nil: throw .malformed("row")
        }
        guard reader.isAtEnd else { throw .malformed("length") }
    }

    private mutating func restoreCore(from reader: inout SerialReader) throws(SerialError) {
        now = try reader.decidedTime()
        serial = try reader.unsigned()
        table.restore(nextBirth: try reader.unsigned())
        guard serial < .max, table.nextBirth < .max else { throw .malformed("number") }
        try orders.restore(from: &reader)
    }

    /// Ends the restoring, after the last row.
    package mutating func endRestoring() throws(SerialError) {
        let living = table.living
        guard Set(living.map { table[$0].birth }).count == living.count else { throw .malformed("birth") }
        // An ended topic's newest publication is its end.
        let ended = living.filter { table[$0].shown.ended }
        guard ended.allSatisfy({ table[$0].newest != nil }) else { throw .malformed("end") }
        for place in ended.sorted(by: { table[$0].newest?.serial ?? 0 < table[$1].newest?.serial ?? 0 }) {
            let (birth, version) = (table[place].birth, table[place].shown.version)
            ends.append(EndedTopics.Entry(birth: birth, place: UInt32(place), version: version))
        }
        ends.remembered = ended.count
    }
}

extension DecisionCore {
    /// Publishes topics that the earlier build has shown otherwise, if nothing has been published since. Called at the entry that announces another
    /// build, or at the end of a recall: an earlier call would begin intervals anew, and delay later changes.
    package mutating func showOtherwise(into decisions: inout [Decision]) {
        for (id, birth, version) in shownOtherwise {
            guard let place = table.place(of: id), table[place].birth == birth, table[place].shown.version == version
            else { continue }
            table[place].showOtherwise(now: now)
            schedule(place)
        }
        shownOtherwise = []
        fireTimers(until: now, into: &decisions)
    }
}
