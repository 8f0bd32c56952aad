internal import CFanfareOpenSSL
internal import CFanfareUV

/// TLS over a TCP connection.
///
/// Writes gather into records of 16 KB, and the records of a turn leave with one system call. OpenSSL reads directly from
/// the loop's read buffer and writes directly into the connection's output buffer. The program sets the callbacks directly
/// after `init`; none is called before the next turn. No callback is called after `close()` or after `onClose`.
@safe package final class TLSStream {
    /// Called when the handshake is complete and the peer is authenticated, with the protocol that ALPN selected, `h2`, or `nil`.
    package var onReady: ((_ alpn: String?) -> Void)?
    /// Called with decrypted bytes, which are valid during the call.
    package var onRead: ((UnsafeRawBufferPointer) -> Void)?
    /// Called when everything written has been encrypted and accepted by the system; at most once per turn.
    package var onDrain: (() -> Void)?
    /// Called when the connection has ended and the stream is closed: with `nil` if the peer sent TLS's close_notify,
    /// otherwise with the error.
    package var onClose: ((LoopError?) -> Void)?

    private let tcp: TCPStream
    private let bio: TLSConnectionBIO
    /// CA file of the context, for the message about an untrusted peer.
    private let caFile: String?
    /// OpenSSL's connection. Owned; `nil` once closed. It is never freed while one of its calls is on the stack: callbacks
    /// are called between them.
    package private(set) var ssl: OpaquePointer?
    private var isReady = false
    /// Bytes written and not yet encrypted: less than a record, or the writes before the handshake.
    private var plain = ByteBuffer()
    private enum Reading {
        case on, paused
        /// Bytes that were left over are still to be delivered, at the end of the turn.
        case resuming
    }
    private var reading = Reading.on
    private var isFinishing = false
    private var hasSentCloseNotify = false

    /// Largest plaintext of one record, in bytes (RFC 8446 §5.1).
    package static let recordBytesMax = 16 * 1024

    var keyUse = KeyUse()
    private var records = UnsentRecords()

    /// Creates a client's TLS stream, which owns the TCP connection and its callbacks.
    /// - Parameters:
    ///   - tcp: a connection before `connect`.
    ///   - host: the name or address that the certificate must be valid for.
    ///   - wallSeconds: the Unix time at which the certificate must be valid, if the caller does not trust the system's clock.
    package convenience init(
        over tcp: TCPStream, context: TLSContext, host: String, wallSeconds: Int64? = nil
    ) throws(LoopError) {
        try self.init(preparing: tcp, context: context)
        unsafe SSL_set_connect_state(ssl)
        try expect(host)
        if let wallSeconds { unsafe X509_VERIFY_PARAM_set_time(SSL_get0_param(ssl), time_t(wallSeconds)) }
        takeCallbacks()
        tcp.onConnect = { self.advance() }
    }

    /// Creates a stream whose OpenSSL connection has no role yet, and which hears nothing of the TCP connection before `takeCallbacks`.
    package init(preparing tcp: TCPStream, context: TLSContext) throws(LoopError) {
        guard let ssl = unsafe SSL_new(context.raw) else { throw .openSSL(.tls, call: "SSL_new", place: tcp.peer) }
        unsafe self.ssl = ssl
        self.tcp = tcp
        bio = TLSConnectionBIO(tcp)
        caFile = context.caFile
        guard unsafe bio.attach(to: ssl) else { throw .openSSL(.tls, call: "BIO_new", place: tcp.peer) }
    }

    /// Takes the callbacks of the TCP connection, which then keep the stream until it closes: not before everything that may fail.
    package func takeCallbacks() {
        unsafe tcp.onRead = { unsafe self.received($0) }
        tcp.onClose = { self.tcpClosed($0) }
        tcp.onDrain = { if self.isReady { self.onDrain?() } }
        tcp.onTurnEnd = { self.turnEnded() }
        tcp.onDropped = { self.release() }
    }

    deinit { unsafe SSL_free(ssl) }

    /// Makes the handshake fail unless the certificate is valid for this host, and sends the host's name to the server.
    private func expect(_ host: String) throws(LoopError) {
        let isNumeric = SocketAddress(ip: host, port: 0) != nil
        // A wildcard must be a whole label, and only a subject alternative name counts (RFC 9525 §6.3 and §6.4).
        unsafe SSL_set_hostflags(
            ssl, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT))
        let isSet =
            unsafe isNumeric
            ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1
            : !host.isEmpty && SSL_set1_host(ssl, host) == 1
        guard isSet else {
            throw .openSSL(.tls, call: "SSL_set1_host", place: tcp.peer, "not a host's name: \"\(host)\"")
        }
        guard !isNumeric else { return }  // a server name must not be an address (RFC 6066 §3)
        _ = unsafe host.withCString { name in
            // Expansion of the macro SSL_set_tlsext_host_name; OpenSSL copies the name.
            unsafe SSL_ctrl(
                ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name),
                UnsafeMutableRawPointer(mutating: name))
        }
    }

    /// `host:port` of the peer, as messages name it.
    package var peer: String { tcp.peer }
    /// `true` once TCP has connected, even if the TLS handshake is incomplete.
    package var isConnected: Bool { tcp.isConnected }
    package var isClosed: Bool { unsafe ssl == nil || tcp.isClosed }

    // MARK: Writing

    /// Bytes written that the system has not yet accepted; encrypted bytes include their records' overhead.
    package var writeQueueBytes: Int { plain.count + tcp.writeQueueBytes }

    /// Bytes at the end of the output that lie in no record which the system has accepted completely: the peer can never
    /// read them once the stream is closed.
    package var plainBytesUnsent: Int {
        plain.count + records.plain(unsent: max(0, tcp.unsentBytes - bio.writtenBytes))
    }

    /// Queues bytes, also before `onReady`; never blocks and never refuses. A program that writes without limit checks
    /// `writeQueueBytes` and waits for `onDrain`.
    package func write(_ bytes: UnsafeRawBufferPointer) {
        guard !isClosed, !isFinishing else { return }
        // Many bytes can gather here only before the handshake; the connection's own limit holds afterwards.
        guard plain.count + bytes.count <= tcp.writeQueueBytesMax else {
            return tcp.failLater(
                LoopError(
                    .tooLarge, call: "write", place: peer,
                    reason: "\(plain.count) bytes wait for the handshake, \(tcp.writeQueueBytesMax) may"))
        }
        var rest = unsafe bytes
        // Full records leave as they fill, so only the last record of the turn is shorter.
        while isReady, plain.count + rest.count >= TLSStream.recordBytesMax {
            let room = TLSStream.recordBytesMax - plain.count
            let piece = unsafe UnsafeRawBufferPointer(rebasing: rest[..<room])
            unsafe rest = UnsafeRawBufferPointer(rebasing: rest[room...])
            if plain.isEmpty {
                unsafe encrypt(piece)
            } else {
                unsafe plain.append(piece)
                encryptGathered()
            }
        }
        unsafe plain.append(rest)
        tcp.atTurnEnd()
    }

    package func write(_ bytes: [UInt8]) { unsafe bytes.withUnsafeBytes { unsafe write($0) } }

    private func encryptGathered() {
        guard isReady, !plain.isEmpty else { return }
        var rest = unsafe plain.bytes[...]
        while unsafe !rest.isEmpty {
            unsafe encrypt(UnsafeRawBufferPointer(rebasing: rest.prefix(TLSStream.recordBytesMax)))
            unsafe rest = rest.dropFirst(TLSStream.recordBytesMax)
        }
        plain.removeAll()
    }

    /// Encrypts the bytes as one record. The BIO accepts everything and nothing renegotiates, so either all bytes are
    /// written or TLS is broken.
    private func encrypt(_ bytes: UnsafeRawBufferPointer) {
        guard let ssl = unsafe ssl else { return }
        if keyUse.noteRecord() { unsafe updateKey(ssl) }
        var written = 0
        guard unsafe SSL_write_ex(ssl, bytes.baseAddress, bytes.count, &written) != 1 else {
            records.append(plain: bytes.count, recordBytes: bio.writtenBytes, unsent: tcp.unsentBytes)
            bio.writtenBytes = 0
            return
        }
        tcp.failLater(.openSSL(.tls, call: "SSL_write", place: peer))
    }

    private func updateKey(_ ssl: OpaquePointer) {
        // TLS 1.2 has no key update, only the renegotiation that HTTP/2 forbids.
        guard unsafe SSL_version(ssl) == TLS1_3_VERSION else { return }
        if unsafe SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED) == 1 { keyUse.noteUpdate() } else { ERR_clear_error() }
    }

    /// Ends in order: the queued bytes leave, then TLS's close_notify and TCP's end. Reading goes on, unless paused, and
    /// `onClose` is called when the peer has ended too. `close` ends the wait.
    package func finish() {
        guard !isClosed, !isFinishing else { return }
        isFinishing = true
        tcp.atTurnEnd()
    }

    private func sendCloseNotify() {
        guard let ssl = unsafe ssl, isReady, !hasSentCloseNotify else { return }
        hasSentCloseNotify = true
        encryptGathered()
        // Zero means that the peer's close_notify has not arrived, which reading handles.
        if unsafe SSL_shutdown(ssl) < 0 { ERR_clear_error() }
    }

    /// Does the work that writes and `resumeReading` have deferred.
    private func turnEnded() {
        if reading == .resuming {
            reading = .on
            bio.lendKept()
            advance()
            bio.takeBack()
            if reading != .paused { tcp.resumeReading() }
        }
        encryptGathered()
        if isFinishing, isReady {
            sendCloseNotify()
            tcp.finish()
        }
    }

    // MARK: Reading

    /// Stops `onRead` until `resumeReading`; a pause before `onReady` also holds back the handshake.
    package func pauseReading() {
        guard !isClosed else { return }
        reading = .paused
        tcp.pauseReading()
    }

    package func resumeReading() {
        guard reading == .paused, !isClosed else { return }
        reading = .resuming
        // Bytes that were left over are delivered first, and not before this returns.
        tcp.atTurnEnd()
    }

    private func received(_ bytes: UnsafeRawBufferPointer) {
        unsafe bio.lend(bytes)
        advance()
        bio.takeBack()
    }

    /// Continues the handshake and reading as far as the received bytes allow.
    private func advance() {
        ERR_clear_error()  // `SSL_get_error` would attribute earlier errors of the queue to this call
        if !isReady { shakeHands() }
        while isReady, reading != .paused, readOnce() {}
    }

    private func shakeHands() {
        guard let ssl = unsafe ssl else { return }
        let result = unsafe SSL_do_handshake(ssl)
        guard result == 1 else {
            guard unsafe SSL_get_error(ssl, result) != SSL_ERROR_WANT_READ else { return }
            return unsafe fail(.handshake(ssl, peer, caFile: caFile))
        }
        isReady = true
        encryptGathered()  // less than a record gathers from here on
        tcp.atTurnEnd()
        unsafe onReady?(TLSStream.agreedProtocol(ssl))
    }

    private static func agreedProtocol(_ ssl: OpaquePointer) -> String? {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        unsafe SSL_get0_alpn_selected(ssl, &name, &count)
        return unsafe name.map {
            unsafe String(decoding: UnsafeBufferPointer(start: $0, count: Int(count)), as: UTF8.self)
        }
    }

    /// Decrypts as much as fits the loop's buffer and delivers it. Returns `false` when no more bytes are available.
    private func readOnce() -> Bool {
        guard let ssl = unsafe ssl, let buffer = unsafe tcp.loop?.plainBuffer else { return false }
        var filled = 0
        var stop: CInt = SSL_ERROR_NONE
        while filled < buffer.count, stop == SSL_ERROR_NONE {
            var count = 0
            let result = unsafe SSL_read_ex(
                ssl, buffer.baseAddress?.advanced(by: filled), buffer.count - filled, &count)
            if result == 1 { filled += count } else { stop = unsafe SSL_get_error(ssl, result) }
        }
        // The reason is taken before the callback, which may itself cause OpenSSL errors.
        let reason = stop == SSL_ERROR_SSL || stop == SSL_ERROR_SYSCALL ? OpenSSLErrors.take()?.text : nil
        if filled > 0 { unsafe onRead?(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<filled])) }
        guard !isClosed else { return false }
        switch stop {
        case SSL_ERROR_NONE: return true
        case SSL_ERROR_WANT_READ: return false
        case SSL_ERROR_ZERO_RETURN: end(nil)
        default: fail(LoopError(.tls, call: "TLS read", place: peer, reason: reason ?? "broken"))
        }
        return false
    }

    // MARK: End

    /// Closes the stream at once: bytes that the system does not accept now are dropped. The peer gets TLS's close_notify if
    /// the system accepts that.
    package func close() {
        guard !isClosed else { return release() }
        sendCloseNotify()
        tcp.transmit()
        release()
    }

    private func tcpClosed(_ error: LoopError?) {
        // TLS's close_notify would have ended the stream before TCP's end. Without it, an attacker may have truncated the stream.
        end(
            error
                ?? LoopError(
                    .connectionLost, call: isReady ? "TLS read" : "TLS handshake", place: peer,
                    reason: isReady ? "closed by the peer without close_notify" : "closed by the peer"))
    }

    /// Sends the alert that OpenSSL has written; the peer would otherwise not learn the reason for the end.
    private func fail(_ error: LoopError) {
        hasSentCloseNotify = true  // OpenSSL allows no close_notify after a fatal error
        tcp.transmit()
        end(error)
    }

    private func end(_ error: LoopError?) {
        let onClose = self.onClose
        close()
        onClose?(error)
    }

    /// Releases everything, so that callbacks that capture this stream do not keep it alive.
    private func release() {
        onReady = nil
        unsafe onRead = nil
        onDrain = nil
        onClose = nil
        tcp.close()
        unsafe SSL_free(ssl)
        unsafe ssl = nil
    }
}

extension LoopError {
    /// Makes the error of a failed handshake, with advice if a cause is known.
    fileprivate static func handshake(_ ssl: OpaquePointer, _ peer: String, caFile: String?) -> LoopError {
        let failure = OpenSSLErrors.take()
        let verification = unsafe SSL_get_verify_result(ssl)
        if verification != X509_V_OK {
            let what = unsafe String(cString: X509_verify_cert_error_string(verification))
            let advice =
                switch CInt(verification) {
                case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
                    "; the certificate is for another host"
                case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
                    X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
                    caFile.map { "; not signed by a certificate in \($0)" } ?? "; pass --ca FILE"
                case X509_V_ERR_CERT_NOT_YET_VALID, X509_V_ERR_CERT_HAS_EXPIRED:
                    "; look at this machine's clock, too"
                default: ""
                }
            return LoopError(
                .certificate, call: "TLS handshake", place: peer, reason: "certificate verify failed: \(what)\(advice)")
        }
        let reason =
            switch failure?.reason {
            case SSL_R_WRONG_VERSION_NUMBER, SSL_R_PACKET_LENGTH_TOO_LONG, SSL_R_HTTP_REQUEST:
                "the peer does not speak TLS on this port (\(failure?.text ?? ""))"
            default: failure?.text ?? "refused"
            }
        return LoopError(.tls, call: "TLS handshake", place: peer, reason: reason)
    }
}
