internal import CFanfareUV

/// Memory of libuv's requests for a stream, each of which is in flight at most once. It outlives them: libuv completes all requests before it
/// closes the stream's handle, which holds the stream.
@safe struct StreamRequests: ~Copyable {
    let connect = UnsafeMutablePointer<uv_connect_t>.allocate(capacity: 1)
    let write = UnsafeMutablePointer<uv_write_t>.allocate(capacity: 1)
    let shutdown = UnsafeMutablePointer<uv_shutdown_t>.allocate(capacity: 1)

    deinit {
        unsafe connect.deallocate()
        unsafe write.deallocate()
        unsafe shutdown.deallocate()
    }
}
