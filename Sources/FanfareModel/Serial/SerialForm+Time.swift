extension SerialWriter {
    package mutating func write(_ time: FeedTime) { write(signed: time.milliseconds) }
    package mutating func write(_ time: FeedTime?) { write(time) { $0.write($1) } }
}

extension SerialReader {
    package mutating func time() throws(SerialError) -> FeedTime { FeedTime(milliseconds: try signed()) }

    package mutating func optionalTime() throws(SerialError) -> FeedTime? {
        try optional { (reader) throws(SerialError) in try reader.time() }
    }
}
