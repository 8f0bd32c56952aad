internal import CFanfareOpenSSL
package import FanfareLoop

extension TLSStream {
    /// Creates a server's TLS stream, which owns the TCP connection and its callbacks, and reads.
    ///
    /// - Parameter tcp: a connection from the listener.
    package convenience init(accepting tcp: TCPStream, context: TLSContext) throws(LoopError) {
        try self.init(preparing: tcp, context: context)
        SSL_set_accept_state(ssl)
        takeCallbacks()
        tcp.resumeReading()
    }
}
