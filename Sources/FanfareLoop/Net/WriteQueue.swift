/// Bytes on their way to the system: those gathered since the last write, and those of the write in flight.
struct WriteQueue: ~Copyable {
    /// Bytes that `append` gathers.
    private var gathered = ByteBuffer()
    /// Bytes of the write in flight, at a fixed address until `written`: libuv reads them.
    private var sending = ByteBuffer()
    /// Bytes of `sending` that the system has accepted.
    private var acceptedBytes = 0
    /// `true` while libuv has a write request for the rest of `sending`.
    private(set) var isSending = false
    /// `true` after an append, until the caller has learned that the queue is empty.
    private var owesDrain = false

    /// Bytes appended that the system has not yet accepted.
    var count: Int { gathered.count + sending.count - acceptedBytes }
    var gatheredBytes: Int { gathered.count }

    /// Bytes appended that the system has not accepted.
    /// - Parameter inFlight: bytes that libuv's write request still has, as libuv counts them.
    func unsentBytes(inFlight: Int) -> Int { gathered.count + (isSending ? inFlight : sending.count) }

    mutating func append(_ bytes: UnsafeRawBufferPointer, memory: (inout ByteBuffer) -> Void) {
        if gathered.isEmpty { memory(&gathered) }
        unsafe gathered.append(bytes)
        owesDrain = true
    }

    /// Returns the gathered bytes as those of a new write; nil while one is in flight or nothing is gathered.
    mutating func beginWrite() -> UnsafeRawBufferPointer? {
        guard !isSending, !gathered.isEmpty else { return nil }
        swap(&gathered, &sending)
        return unsafe sending.bytes
    }

    /// Takes the number of bytes that the system has accepted at once, and returns the rest, for a write request: nil if there is none.
    mutating func accepted(_ count: Int, takeBack: (inout ByteBuffer) -> Void) -> UnsafeRawBufferPointer? {
        acceptedBytes = count
        guard acceptedBytes < sending.count else {
            written(takeBack)
            return nil
        }
        return unsafe UnsafeRawBufferPointer(rebasing: sending.bytes[acceptedBytes...])
    }

    /// Called once libuv has taken the request for the rest.
    mutating func requested() { isSending = true }

    /// Called when the write is over, well or badly.
    mutating func written(_ takeBack: (inout ByteBuffer) -> Void) {
        isSending = false
        takeBack(&sending)
        acceptedBytes = 0
    }

    /// Returns `true` once after each append, when nothing is in flight.
    mutating func takeDrain() -> Bool {
        defer { owesDrain = false }
        return owesDrain
    }
}
