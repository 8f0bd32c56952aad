import FanfareModel

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
