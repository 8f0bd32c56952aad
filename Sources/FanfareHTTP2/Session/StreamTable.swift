/// A request in flight. Plain numbers: opening and closing one counts no references.
struct Stream {
    /// 0: the slot is free.
    var id: UInt32 = 0
    /// Where in the table's `partial` the rest of this exchange is; -1 as long as the request is out and nothing has come back,
    /// and then when all comes back at once.
    fileprivate(set) var partialIndex: Int32 = -1
    var tag: UInt64 = 0
    /// Where in the connection's output the request ends, so far as is known: of what has not wholly left nothing can be done.
    var endsAt = UInt64.max
    /// Bytes the peer lets us send on this stream; negative after it shrank its initial window (RFC 9113 §6.9.2).
    var sendWindow = 0
    var receiveWindow = FlowControl.defaultWindow
}

/// What only a stream needs whose body waits for a window, or whose answer comes in pieces.
struct PartialExchange {
    /// The request's body from `unsentFrom` on waits for a window.
    var unsent: [UInt8] = []
    var unsentFrom = 0
    /// 0 until the final answer's header has come.
    var status = 0
    /// What the answer said, or nil.
    var contentLength: Int?
    /// Bytes of the answer's body so far, padding excluded.
    var bodyCount = 0
    /// `apns-id` (its first `apnsIDCount` bytes) and body, while more is to come.
    var held: [UInt8] = []
    var apnsIDCount = 0

    /// A buffer as small as this stays, so that short error answers allocate nothing.
    static let heldCapacityKept = 256

    mutating func reset() {
        var held = held
        self.held = []
        held.removeAll(keepingCapacity: held.capacity <= PartialExchange.heldCapacityKept)
        self = PartialExchange()
        self.held = held
    }
}

/// The open streams: a ring in which a stream's place follows from its ID, so that finding it is one comparison.
///
/// The ring has at least twice as many places as there may be streams. A place still held by a slow request is stepped
/// over by not using the ID that would fall on it, which HTTP/2 allows (RFC 9113 §5.1.1).
struct StreamTable {
    private var slots: [Stream]
    private(set) var count = 0
    /// Reused, so that there are as many as were needed at once.
    private var partial: [PartialExchange] = []
    private var partialFree: [Int32] = []

    init(streamsMax: Int) {
        var capacity = 2
        while capacity < 2 * streamsMax { capacity *= 2 }
        slots = [Stream](repeating: Stream(), count: capacity)
    }

    private func place(_ id: UInt32) -> Int { Int(id >> 1) & (slots.count - 1) }

    func isFree(for id: UInt32) -> Bool { slots[place(id)].id == 0 }

    /// Nil when no such stream is open.
    func position(of id: UInt32) -> Int? {
        let place = place(id)
        return slots[place].id == id && id != 0 ? place : nil
    }

    /// Nil when no open stream has this tag. Walks over the whole ring.
    func position(ofTag tag: UInt64) -> Int? { slots.firstIndex { $0.id != 0 && $0.tag == tag } }

    subscript(position: Int) -> Stream {
        get { slots[position] }
        _modify { yield &slots[position] }
    }

    /// - Precondition: the ID's place is free.
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

    /// Of the stream at this position; begun when there is none yet.
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

    /// Moves the send windows of all open streams; returns one that this makes too large, if any.
    mutating func moveSendWindows(by difference: Int) -> UInt32? {
        var overflow: UInt32?
        for place in slots.indices where slots[place].id != 0 {
            slots[place].sendWindow += difference
            if slots[place].sendWindow > FlowControl.windowMax { overflow = slots[place].id }
        }
        return overflow
    }

    /// Positions of the open streams, oldest first. For rare occasions: it walks over the whole ring.
    var positions: [Int] {
        slots.indices.filter { slots[$0].id != 0 }.sorted { slots[$0].id < slots[$1].id }
    }
}
