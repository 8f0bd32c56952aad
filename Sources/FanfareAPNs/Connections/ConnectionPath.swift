import FanfareModel

/// Measurements of a connection, or of all connections of a pool: the distance, and what is carried over it at once.
struct ConnectionPath: Equatable {
    /// Time from a request to its answer without a queue: the distance, and the peer's own work.
    var roundTrip: Duration
    /// Requests that a connection may have in flight.
    var width: Int
    /// Requests that a connection could have in flight if its window were large enough.
    var streams: Int
    /// Size of a request, including header and frames.
    var requestSize: ByteCount

    /// Returns `true` if distance and size of a request differ by less than this ratio.
    func isComparable(to other: ConnectionPath, within ratio: Double) -> Bool {
        func isClose(_ one: some BinaryInteger, _ other: some BinaryInteger) -> Bool {
            let (one, other) = (Double(max(1, one)), Double(max(1, other)))
            return max(one, other) < ratio * min(one, other)
        }
        return isClose(roundTrip.nanoseconds, other.roundTrip.nanoseconds)
            && isClose(requestSize.bytes, other.requestSize.bytes)
    }

    /// The connections' common path: the median of what each of them has measured. Of two, the quicker and the wider one shows what the way
    /// allows; the other may have been late once.
    ///
    /// - Returns: `nil` without connections.
    static func median(of paths: [ConnectionPath]) -> ConnectionPath? {
        guard var path = paths.first else { return nil }
        let (lower, upper) = ((paths.count - 1) / 2, paths.count / 2)
        path.roundTrip = paths.map(\.roundTrip).sorted()[lower]
        path.width = paths.map(\.width).sorted()[upper]
        path.streams = paths.map(\.streams).sorted()[upper]
        return path
    }
}
