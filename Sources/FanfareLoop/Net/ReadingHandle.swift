internal import CFanfareUV

/// A handle that libuv reads as a stream: a socket, a pipe or a terminal.
package class ReadingHandle: Handle {
    private var isReading = false

    /// Receives bytes, which are valid during the call.
    func received(_ bytes: UnsafeRawBufferPointer) {}
    /// Receives the end of the input: `UV_EOF`, or the code of an error. Reading has stopped.
    func ended(_ code: CInt) {}

    final func startReading() -> CInt {
        guard !isClosed, !isReading else { return 0 }
        let code = unsafe uv_read_start(pointer(), lendReadBuffer, streamWasRead)
        isReading = code == 0
        return code
    }

    final func stopReading() {
        guard !isClosed, isReading else { return }
        isReading = false
        unsafe uv_read_stop(pointer())
    }

    fileprivate func read(_ count: Int, _ base: UnsafeRawPointer?) {
        guard !isClosed else { return }
        if count > 0 {
            unsafe received(UnsafeRawBufferPointer(start: base, count: count))
        } else if count < 0 {
            stopReading()
            ended(CInt(count))
        }  // 0 means "try again" in libuv
    }
}

/// Lends the loop's read buffer: libuv fills it and calls back before it requests another one, so one buffer serves the whole loop.
private func lendReadBuffer(
    _ handle: UnsafeMutablePointer<uv_handle_t>?, _: Int, _ buffer: UnsafeMutablePointer<uv_buf_t>?
) {
    guard let bytes = unsafe owner(handle, as: Handle.self).loop?.readBuffer else { return }
    unsafe buffer?.pointee = uv_buf_init(bytes.baseAddress?.assumingMemoryBound(to: CChar.self), UInt32(bytes.count))
}

private func streamWasRead(
    _ handle: UnsafeMutablePointer<uv_stream_t>?, _ count: Int, _ buffer: UnsafePointer<uv_buf_t>?
) {
    unsafe owner(handle, as: ReadingHandle.self).read(count, UnsafeRawPointer(buffer?.pointee.base))
}
