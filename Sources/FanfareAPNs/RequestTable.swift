import FanfareFanOut

/// The requests in flight on one connection. A request's index is its tag in the HTTP/2 session, so an answer finds its
/// activity with one look. Bounded by the connection's streams; reused, so that a push allocates nothing.
struct RequestTable {
    struct Request {
        let slot: ActivitySlot
        let generation: UInt32
        /// Of the JWT it was sent with.
        let tokenSerial: UInt64
        /// Monotonic nanoseconds; -1 while the place is free.
        fileprivate(set) var sentAt: Int64
    }

    private var places: [Request] = []
    private var free: [UInt32] = []

    var count: Int { places.count - free.count }

    mutating func insert(slot: ActivitySlot, generation: UInt32, tokenSerial: UInt64, at now: Int64) -> UInt64 {
        let request = Request(slot: slot, generation: generation, tokenSerial: tokenSerial, sentAt: now)
        if let place = free.popLast() {
            places[Int(place)] = request
            return UInt64(place)
        }
        places.append(request)
        return UInt64(places.count - 1)
    }

    /// - Precondition: the tag is in flight; the session ends each request exactly once.
    mutating func remove(_ tag: UInt64) -> Request {
        let request = places[Int(tag)]
        precondition(request.sentAt >= 0, "request \(tag) ended twice")
        places[Int(tag)].sentAt = -1
        free.append(UInt32(tag))
        return request
    }

    /// Tags of the requests sent at that time or before.
    func sent(until time: Int64) -> [UInt64] {
        places.indices.filter { places[$0].sentAt >= 0 && places[$0].sentAt <= time }.map(UInt64.init)
    }

    /// When the oldest request was sent.
    var oldest: Int64? { places.lazy.map(\.sentAt).filter { $0 >= 0 }.min() }
}
