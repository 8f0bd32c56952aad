/// A request in flight. It contains plain numbers only, so opening and closing a stream counts no references.
struct Stream {
    /// Stream ID; 0 while the slot is free.
    var id: UInt32 = 0
    /// Index of the stream's exchange in the table's `partial`; -1 while the stream needs none: its request is wholly out,
    /// and the answer has not begun or arrives at once.
    fileprivate(set) var partialIndex: Int32 = -1
    var tag: UInt64 = 0
    /// Offset of the request's end in the connection's output; `UInt64.max` while the end is not written.
    var endsAt = UInt64.max
    /// Bytes that the peer lets us send on this stream; negative after the peer shrank its initial window (RFC 9113 §6.9.2).
    var sendWindow = 0
    var receiveWindow = FlowControl.defaultWindow
}

/// State of a stream whose body waits for a window, or whose answer arrives in several frames.
struct PartialExchange {
    /// Body of the request; its bytes from `unsentFrom` on wait for a window.
    var unsent: [UInt8] = []
    var unsentFrom = 0
    /// Status of the answer; 0 until the final answer's header has arrived.
    var status = 0
    /// Value of the answer's `content-length`, or nil.
    var contentLength: Int?
    /// Bytes of the answer's body so far, without padding.
    var bodyCount = 0
    /// `apns-id` (the first `apnsIDCount` bytes) and body of an answer that is incomplete.
    var answerBytes: [UInt8] = []
    var apnsIDCount = 0

    /// Largest capacity of `answerBytes` that is kept for reuse, so that short error answers allocate nothing.
    static let answerCapacityKept = 256

    mutating func reset() {
        var answerBytes = answerBytes
        self.answerBytes = []
        answerBytes.removeAll(keepingCapacity: answerBytes.capacity <= PartialExchange.answerCapacityKept)
        self = PartialExchange()
        self.answerBytes = answerBytes
    }
}

/// Open streams: a ring in which a stream's ID determines its place, so that a lookup is one comparison.
///
/// The ring has at least twice as many places as streams may be open. An ID whose place a slow request still occupies is
/// skipped, which HTTP/2 allows (RFC 9113 §5.1.1).
struct StreamTable {
    private var slots: [Stream]
    private(set) var count = 0
    /// ID of the next stream; beyond `StreamID.max` once none is left.
    private(set) var next: UInt32
    /// Partial exchanges, reused: the array grows to the largest number that were needed at once.
    private var partial: [PartialExchange] = []
    private var partialFree: [Int32] = []

    init(streamsMax: Int, first: UInt32) {
        next = first
        var capacity = 2
        while capacity < 2 * streamsMax { capacity *= 2 }
        slots = [Stream](repeating: Stream(), count: capacity)
    }

    private func place(_ id: UInt32) -> Int { Int(id >> 1) & (slots.count - 1) }

    /// Advances to the next ID whose place is free. There always is one, because at most half of the places are taken.
    mutating func advance() {
        repeat { next += 2 } while next <= StreamID.max && slots[place(next)].id != 0
    }

    /// Returns the position of an open stream; nil when no such stream is open.
    func position(of id: UInt32) -> Int? {
        let place = place(id)
        return slots[place].id == id && id != 0 ? place : nil
    }

    /// Returns the position of the open stream with this tag; nil when there is none. Walks over the whole ring.
    func position(ofTag tag: UInt64) -> Int? { slots.firstIndex { $0.id != 0 && $0.tag == tag } }

    subscript(position: Int) -> Stream {
        get { slots[position] }
        _modify { yield &slots[position] }
    }

    /// - Precondition: the ID's place is free, as it is for `next`.
    mutating func open(_ stream: Stream) -> Int {
        let place = place(stream.id)
        precondition(slots[place].id == 0)
        slots[place] = stream
        count += 1
        return place
    }

    mutating func close(_ position: Int) {
        let index = slots[position].partialIndex
        slots[position].id = 0
        count -= 1
        guard index >= 0 else { return }
        partial[Int(index)].reset()
        partialFree.append(index)
    }

    func isPartial(_ position: Int) -> Bool { slots[position].partialIndex >= 0 }

    /// The partial exchange of the stream at this position, created on first use.
    subscript(partial position: Int) -> PartialExchange {
        mutating get { partial[partialIndex(position)] }
        _modify { yield &partial[partialIndex(position)] }
    }

    private mutating func partialIndex(_ position: Int) -> Int {
        if slots[position].partialIndex < 0 {
            if let free = partialFree.popLast() {
                slots[position].partialIndex = free
            } else {
                slots[position].partialIndex = Int32(partial.count)
                partial.append(PartialExchange())
            }
        }
        return Int(slots[position].partialIndex)
    }

    /// Adds `difference` to the send windows of all open streams; returns a stream whose window overflows, if any.
    mutating func moveSendWindows(by difference: Int) -> UInt32? {
        var overflow: UInt32?
        for place in slots.indices where slots[place].id != 0 {
            slots[place].sendWindow += difference
            if slots[place].sendWindow > FlowControl.windowMax { overflow = slots[place].id }
        }
        return overflow
    }

    /// Positions of the open streams, oldest first. Walks over the whole ring, so it is for rare events.
    var positions: [Int] {
        slots.indices.filter { slots[$0].id != 0 }.sorted { slots[$0].id < slots[$1].id }
    }

    /// Describes a wrong count, a stream that is not found, or a partial exchange that belongs to two streams or to none; `nil` if there is
    /// none. For tests.
    func violation() -> String? {
        let open = positions
        guard open.count == count else { return "\(count) streams are counted, \(open.count) are open" }
        if let lost = open.first(where: { position(of: slots[$0].id) != $0 }) {
            return "stream \(slots[lost].id) is not found at \(lost)"
        }
        let used = open.map { slots[$0].partialIndex }.filter { $0 >= 0 }
        guard (used + partialFree).sorted() == partial.indices.map({ Int32($0) }) else {
            return "of \(partial.count) partial exchanges, streams have \(used), and \(partialFree) are free"
        }
        return nil
    }
}
