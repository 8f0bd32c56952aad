internal import CFanfareOpenSSL
internal import CFanfareUV

/// TLS over a TCP connection.
///
/// Writes gather into records of 16 KB, and the records of a turn leave with one system call. OpenSSL reads straight from
/// the loop's read buffer and writes straight into the connection's output buffer. Set the callbacks directly after making
/// it; none is called before the next turn. After `close()`, or after `onClose`, nothing is called any more.
package final class TLSStream {
    /// The handshake is done and the peer is who it should be. The protocol that ALPN agreed upon, `h2`, or `nil`.
    package var onReady: ((_ alpn: String?) -> Void)?
    /// Bytes as they come; valid during the call.
    package var onRead: ((UnsafeRawBufferPointer) -> Void)?
    /// Everything written has been encrypted and handed to the system. Called at most once per turn.
    package var onDrain: (() -> Void)?
    /// The connection is over and the stream is closed: `nil` when the peer ended it with TLS's farewell, else what broke it.
    package var onClose: ((LoopError?) -> Void)?

    private let tcp: TCPStream
    private let bio: TLSConnectionBIO
    /// Whom we trust, for the message when that is not the peer.
    private let caFile: String?
    /// Owned; `nil` once closed. Never freed while one of its calls is on the stack: callbacks are made between them.
    private var ssl: OpaquePointer?
    private var isReady = false
    /// Written and not yet encrypted: less than a record, or what was written before the handshake was done.
    private var plain = OutputBuffer()
    private var isPaused = false
    private var isResuming = false
    private var isFinishing = false
    private var saidFarewell = false

    /// The greatest plaintext of one record (RFC 8446 §5.1).
    package static let recordBytesMax = 16 * 1024

    /// Records that we encrypt with one key of TLS 1.3. AES-GCM is safe for 2^24.5 full ones (RFC 8446 §5.5), some hours of the
    /// fastest sender there is; the peer answers with a new key of its own. A var for tests.
    var recordsPerKeyMax = 1 << 24
    private var recordsOfKey = 0
    private var records = UnsentRecords()
    private(set) var keyUpdates = 0

    /// Takes over the connection, its callbacks included.
    /// - Parameters:
    ///   - tcp: a client's before it has connected; a server's as the listener gave it out.
    ///   - host: a client's: the name or address that the certificate must be for.
    ///   - wallSeconds: a client's: the time at which the certificate must be valid, for those who do not trust the system's clock.
    package init(
        over tcp: TCPStream, context: TLSContext, host: String? = nil, wallSeconds: Int64? = nil
    ) throws(LoopError) {
        guard let ssl = SSL_new(context.raw) else { throw .openSSL(.tls, call: "SSL_new", place: tcp.peer) }
        self.ssl = ssl
        self.tcp = tcp
        bio = TLSConnectionBIO(tcp)
        caFile = context.caFile
        guard bio.attach(to: ssl) else { throw .openSSL(.tls, call: "BIO_new", place: tcp.peer) }
        if context.isServer {
            SSL_set_accept_state(ssl)
        } else {
            SSL_set_connect_state(ssl)
            try expect(host ?? "", ssl)
            if let wallSeconds { X509_VERIFY_PARAM_set_time(SSL_get0_param(ssl), time_t(wallSeconds)) }
        }
        tcp.onRead = { self.received($0) }
        tcp.onClose = { self.tcpClosed($0) }
        tcp.onDrain = { if self.isReady { self.onDrain?() } }
        tcp.onTurnEnd = { self.turnEnded() }
        tcp.onDropped = { self.release() }
        if context.isServer {
            tcp.resumeReading()
        } else {
            tcp.onConnect = { self.advance() }
        }
    }

    deinit { SSL_free(ssl) }

    /// Makes the handshake fail unless the certificate is for this host, and tells the server which one we mean.
    private func expect(_ host: String, _ ssl: OpaquePointer) throws(LoopError) {
        let isNumeric = SocketAddress(ip: host, port: 0) != nil
        // A wildcard is a whole label, and a name stands where names belong (RFC 9525 §6.3 and §6.4).
        SSL_set_hostflags(ssl, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT))
        let isSet =
            isNumeric
            ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1
            : !host.isEmpty && SSL_set1_host(ssl, host) == 1
        guard isSet else {
            throw .openSSL(.tls, call: "SSL_set1_host", place: tcp.peer, "not a host's name: \"\(host)\"")
        }
        guard !isNumeric else { return }  // server names are names (RFC 6066 §3)
        _ = host.withCString { name in
            // What the macro SSL_set_tlsext_host_name does; OpenSSL copies the name.
            SSL_ctrl(
                ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name),
                UnsafeMutableRawPointer(mutating: name))
        }
    }

    /// `host:port` of the other side, as messages name it.
    package var peer: String { tcp.peer }
    /// As far as TCP goes.
    package var isConnected: Bool { tcp.isConnected }
    package var isClosed: Bool { ssl == nil || tcp.isClosed }

    // MARK: Writing

    /// Bytes written and not yet taken by the system; encrypted ones count with their records' overhead.
    package var writeQueueBytes: Int { plain.count + tcp.writeQueueBytes }

    /// Bytes at the end of what was written that are in no record which the system has taken wholly: the peer can never read them once this
    /// is closed.
    package var plainBytesUnsent: Int {
        plain.count + records.plain(unsent: max(0, tcp.unsentBytes - bio.writtenBytes))
    }

    /// May begin before `onReady`. Never blocks, never refuses: whoever writes without end looks at `writeQueueBytes` and
    /// waits for `onDrain`.
    package func write(_ bytes: UnsafeRawBufferPointer) {
        guard !isClosed, !isFinishing else { return }
        // Only before the handshake is done can much gather here; afterwards the connection's own limit holds.
        guard plain.count + bytes.count <= tcp.writeQueueBytesMax else {
            return tcp.failLater(
                LoopError(
                    .tooLarge, call: "write", place: peer,
                    reason: "\(plain.count) bytes wait for the handshake, \(tcp.writeQueueBytesMax) may"))
        }
        var rest = bytes
        // Full records leave as they fill, so that none is cut short but the last one of the turn.
        while isReady, plain.count + rest.count >= TLSStream.recordBytesMax {
            let room = TLSStream.recordBytesMax - plain.count
            let piece = UnsafeRawBufferPointer(rebasing: rest[..<room])
            rest = UnsafeRawBufferPointer(rebasing: rest[room...])
            if plain.isEmpty {
                encrypt(piece)
            } else {
                plain.append(piece)
                encryptGathered()
            }
        }
        plain.append(rest)
        tcp.atTurnEnd()
    }

    package func write(_ bytes: [UInt8]) { bytes.withUnsafeBytes { write($0) } }

    private func encryptGathered() {
        guard isReady, !plain.isEmpty else { return }
        var rest = plain.bytes[...]
        while !rest.isEmpty {
            encrypt(UnsafeRawBufferPointer(rebasing: rest.prefix(TLSStream.recordBytesMax)))
            rest = rest.dropFirst(TLSStream.recordBytesMax)
        }
        plain.removeAll()
    }

    /// As one record. The BIO takes everything and nothing renegotiates, so all is written or TLS is broken.
    private func encrypt(_ bytes: UnsafeRawBufferPointer) {
        guard let ssl else { return }
        recordsOfKey += 1
        if recordsOfKey > recordsPerKeyMax { updateKey(ssl) }
        var written = 0
        guard SSL_write_ex(ssl, bytes.baseAddress, bytes.count, &written) != 1 else {
            records.append(plain: bytes.count, wire: bio.writtenBytes, unsent: tcp.unsentBytes)
            bio.writtenBytes = 0
            return
        }
        tcp.failLater(.openSSL(.tls, call: "SSL_write", place: peer))
    }

    private func updateKey(_ ssl: OpaquePointer) {
        recordsOfKey = 0
        // TLS 1.2 cannot, without the renegotiation that HTTP/2 forbids.
        guard SSL_version(ssl) == TLS1_3_VERSION else { return }
        if SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED) == 1 { keyUpdates += 1 } else { ERR_clear_error() }
    }

    /// Ends in order: what is written leaves, then TLS's farewell and TCP's. Reading goes on, unless paused, and `onClose` is
    /// called when the peer has ended too. Call `close` to wait no longer.
    package func finish() {
        guard !isClosed, !isFinishing else { return }
        isFinishing = true
        tcp.atTurnEnd()
    }

    private func sayFarewell() {
        guard let ssl, isReady, !saidFarewell else { return }
        saidFarewell = true
        encryptGathered()
        // Zero means that the peer's farewell is still to come, which is reading's business.
        if SSL_shutdown(ssl) < 0 { ERR_clear_error() }
    }

    /// What writes and `resumeReading` have put off.
    private func turnEnded() {
        if isResuming, !isPaused {
            isResuming = false
            bio.lendKept()
            advance()
            bio.takeBack()
            if !isPaused { tcp.resumeReading() }
        }
        encryptGathered()
        if isFinishing, isReady {
            sayFarewell()
            tcp.finish()
        }
    }

    // MARK: Reading

    /// No `onRead` until `resumeReading`; before `onReady` it holds the handshake back too.
    package func pauseReading() {
        guard !isClosed else { return }
        isPaused = true
        tcp.pauseReading()
    }

    package func resumeReading() {
        guard isPaused, !isClosed else { return }
        isPaused = false
        isResuming = true
        // What was left over is delivered first, and not before this returns.
        tcp.atTurnEnd()
    }

    private func received(_ bytes: UnsafeRawBufferPointer) {
        bio.lend(bytes)
        advance()
        bio.takeBack()
    }

    /// Goes as far as the bytes at hand allow.
    private func advance() {
        ERR_clear_error()  // `SSL_get_error` would take what others left there for its own
        if !isReady { shakeHands() }
        while isReady, !isPaused, readOnce() {}
    }

    private func shakeHands() {
        guard let ssl else { return }
        let result = SSL_do_handshake(ssl)
        guard result == 1 else {
            guard SSL_get_error(ssl, result) != SSL_ERROR_WANT_READ else { return }
            return fail(.handshake(ssl, peer, caFile: caFile))
        }
        isReady = true
        encryptGathered()  // from here on less than a record gathers
        tcp.atTurnEnd()
        onReady?(TLSStream.agreedProtocol(ssl))
    }

    private static func agreedProtocol(_ ssl: OpaquePointer) -> String? {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &count)
        return name.map { String(decoding: UnsafeBufferPointer(start: $0, count: Int(count)), as: UTF8.self) }
    }

    /// Decrypts what fits the loop's buffer and gives it out. False when no more is at hand.
    private func readOnce() -> Bool {
        guard let ssl, let buffer = tcp.loop?.plainBuffer else { return false }
        var filled = 0
        var stop: CInt = SSL_ERROR_NONE
        while filled < buffer.count, stop == SSL_ERROR_NONE {
            var count = 0
            let result = SSL_read_ex(
                ssl, buffer.baseAddress?.advanced(by: filled), buffer.count - filled, &count)
            if result == 1 { filled += count } else { stop = SSL_get_error(ssl, result) }
        }
        // Taken before the callback, which may fail in OpenSSL on its own account.
        let reason = stop == SSL_ERROR_SSL || stop == SSL_ERROR_SYSCALL ? OpenSSLErrors.take()?.text : nil
        if filled > 0 { onRead?(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<filled])) }
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

    /// Ends at once: what the system does not take now is dropped. The peer gets TLS's farewell if it does take that.
    package func close() {
        guard !isClosed else { return release() }
        sayFarewell()
        tcp.transmit()
        release()
    }

    private func tcpClosed(_ error: LoopError?) {
        // TLS's farewell would have ended us before TCP's. Without it, somebody may have cut the stream short.
        end(
            error
                ?? LoopError(
                    .connectionLost, call: isReady ? "TLS read" : "TLS handshake", place: peer,
                    reason: isReady ? "closed by the peer without TLS's farewell" : "closed by the peer"))
    }

    /// OpenSSL has written an alert for the peer; without it, all the peer would know is that we left.
    private func fail(_ error: LoopError) {
        saidFarewell = true  // OpenSSL allows no farewell after a fatal error
        tcp.transmit()
        end(error)
    }

    private func end(_ error: LoopError?) {
        let onClose = self.onClose
        close()
        onClose?(error)
    }

    /// Lets go of everything, so that callbacks that hold this stream do not keep it.
    private func release() {
        onReady = nil
        onRead = nil
        onDrain = nil
        onClose = nil
        tcp.close()
        SSL_free(ssl)
        ssl = nil
    }
}

extension LoopError {
    /// Why a handshake failed, and what to do about it where that is known.
    fileprivate static func handshake(_ ssl: OpaquePointer, _ peer: String, caFile: String?) -> LoopError {
        let failure = OpenSSLErrors.take()
        let verdict = SSL_get_verify_result(ssl)
        if verdict != X509_V_OK {
            let what = String(cString: X509_verify_cert_error_string(verdict))
            let advice =
                switch CInt(verdict) {
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
