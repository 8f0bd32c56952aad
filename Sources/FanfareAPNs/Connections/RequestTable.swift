import FanfareFanOut
import FanfareModel

/// Requests in flight on one connection. A request's index is its tag in the HTTP/2 session, so an answer finds its activity
/// with one look-up. The connection's streams bound the table; places are reused, so that a push allocates nothing.
struct RequestTable {
    private var places: [SentRequest] = []
    private var free: [UInt32] = []

    var count: Int { places.count - free.count }

    mutating func insert(slot: ActivitySlot, generation: UInt32, tokenSerial: UInt64, at now: MonotonicTime) -> UInt64 {
        let request = SentRequest(slot: slot, generation: generation, tokenSerial: tokenSerial, sentAt: now)
        if let place = free.popLast() {
            places[Int(place)] = request
            return UInt64(place)
        }
        places.append(request)
        return UInt64(places.count - 1)
    }

    /// Removes a request.
    ///
    /// - Precondition: the request is in flight; the session ends each request exactly once.
    mutating func remove(_ tag: UInt64) -> SentRequest {
        let request = places[Int(tag)]
        precondition(request.sentAt < .never, "request \(tag) ended twice")
        places[Int(tag)].sentAt = .never
        free.append(UInt32(tag))
        return request
    }

    /// Returns the tags of the requests that were sent at this time or before.
    func sent(until time: MonotonicTime) -> [UInt64] {
        places.indices.filter { places[$0].sentAt <= time }.map(UInt64.init)
    }

    /// Time at which the oldest request was sent.
    var oldest: MonotonicTime? { places.lazy.map(\.sentAt).filter { $0 < .never }.min() }

    /// Describes places that are listed as free and have a request, or have none and are not listed once; `nil` if there are none. For tests.
    func violation() -> String? {
        let vacant = places.indices.filter { places[$0].sentAt == .never }.map { UInt32($0) }
        guard free.sorted() == vacant else { return "places \(free.sorted()) are free, and \(vacant) have no request" }
        return nil
    }
}
