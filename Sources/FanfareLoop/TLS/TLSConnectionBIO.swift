internal import CFanfareOpenSSL

/// OpenSSL's transport: it reads from the loop's read buffer and writes to the connection's output buffer, without a copy in between.
@safe final class TLSConnectionBIO {
    private let tcp: TCPStream
    /// Bytes that OpenSSL may read now; they lie in memory that is valid during `TLSStream.received`, or in `kept`.
    private var input = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    /// Bytes that were unread when reading was paused; at most one read of the loop.
    private var kept = ByteBuffer()
    private var isLendingKept = false

    init(_ tcp: TCPStream) { self.tcp = tcp }

    /// Gives OpenSSL a BIO that refers to this object, unretained: the owner of both frees the SSL first.
    func attach(to ssl: OpaquePointer) -> Bool {
        guard let method = unsafe TLSConnectionBIO.method, let bio = unsafe BIO_new(method) else { return false }
        unsafe BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
        unsafe BIO_set_init(bio, 1)
        unsafe SSL_set_bio(ssl, bio, bio)  // takes the one reference, for both directions
        return true
    }

    /// Lends received bytes to OpenSSL until `takeBack`.
    func lend(_ bytes: UnsafeRawBufferPointer) {
        unsafe input = bytes
    }

    func lendKept() {
        unsafe input = kept.bytes
        isLendingKept = true
    }

    /// Keeps the bytes that OpenSSL has not read, because reading was paused.
    func takeBack() {
        var rest = ByteBuffer()
        if unsafe !input.isEmpty { unsafe rest.append(input) }
        unsafe input = UnsafeRawBufferPointer(start: nil, count: 0)
        if isLendingKept || !rest.isEmpty { kept = rest }
        isLendingKept = false
    }

    fileprivate func read(_ bytes: UnsafeMutableRawPointer, _ count: Int) -> Int {
        let taken = unsafe min(count, input.count)
        guard taken > 0, let base = unsafe input.baseAddress else { return 0 }
        unsafe bytes.copyMemory(from: base, byteCount: taken)
        unsafe input = UnsafeRawBufferPointer(rebasing: input[taken...])
        return taken
    }

    /// Bytes written since the counter was last reset.
    var writtenBytes = 0

    fileprivate func write(_ bytes: UnsafeRawBufferPointer) {
        writtenBytes += bytes.count
        unsafe tcp.write(bytes)
    }

    /// Flags that the macro `BIO_clear_retry_flags` clears.
    fileprivate static let retryFlags =
        BIO_FLAGS_READ | BIO_FLAGS_WRITE | BIO_FLAGS_IO_SPECIAL | BIO_FLAGS_SHOULD_RETRY

    /// Method table, made once; OpenSSL only reads it. `BIO_TYPE_SOURCE_SINK` is 0x0400 (openssl/bio.h). `nil` only without memory.
    nonisolated(unsafe) private static let method: OpaquePointer? = {
        let method = unsafe BIO_meth_new(BIO_get_new_index() | 0x0400, "fanfare connection")
        unsafe BIO_meth_set_read(method, bioRead)
        unsafe BIO_meth_set_write(method, bioWrite)
        unsafe BIO_meth_set_ctrl(method, bioControl)
        return unsafe method
    }()
}

private func connection(of bio: OpaquePointer?) -> TLSConnectionBIO {
    // `attach` set the data before OpenSSL saw the BIO.
    unsafe Unmanaged<TLSConnectionBIO>.fromOpaque(BIO_get_data(bio)!).takeUnretainedValue()
}

private func bioRead(_ bio: OpaquePointer?, _ bytes: UnsafeMutablePointer<CChar>?, _ count: CInt) -> CInt {
    unsafe BIO_clear_flags(bio, TLSConnectionBIO.retryFlags)
    guard let bytes = unsafe bytes, count > 0 else { return 0 }
    let taken = unsafe connection(of: bio).read(bytes, Int(count))
    if taken > 0 { return CInt(taken) }
    unsafe BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
    return -1
}

/// Accepts all bytes: the owner of the connection and `TCPStream.writeQueueBytesMax` bound its queue.
private func bioWrite(_ bio: OpaquePointer?, _ bytes: UnsafePointer<CChar>?, _ count: CInt) -> CInt {
    unsafe BIO_clear_flags(bio, TLSConnectionBIO.retryFlags)
    guard let bytes = unsafe bytes, count > 0 else { return 0 }
    unsafe connection(of: bio).write(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
    return count
}

/// Confirms a flush, which happens at the end of the turn; other commands do not apply.
private func bioControl(_: OpaquePointer?, _ command: CInt, _: Int, _: UnsafeMutableRawPointer?) -> Int {
    command == BIO_CTRL_FLUSH ? 1 : 0
}
