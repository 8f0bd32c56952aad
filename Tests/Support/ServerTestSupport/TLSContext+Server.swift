internal import CFanfareOpenSSL
package import FanfareLoop

extension TLSContext {
    /// Makes a context for connections that we accept.
    /// - Parameters:
    ///   - certificateFile: PEM, our certificate first, then those between it and the root.
    ///   - keyFile: PEM, not encrypted.
    package static func server(certificateFile: String, keyFile: String) throws(LoopError) -> TLSContext {
        let context = try TLSContext(TLS_server_method())
        // OpenSSL would otherwise ask for a passphrase on the terminal.
        SSL_CTX_set_default_passwd_cb(context.raw, { _, _, _, _ in -1 })
        guard SSL_CTX_use_certificate_chain_file(context.raw, certificateFile) == 1 else {
            throw .openSSL(.badKey, call: "SSL_CTX_use_certificate_chain_file", place: certificateFile)
        }
        guard SSL_CTX_use_PrivateKey_file(context.raw, keyFile, SSL_FILETYPE_PEM) == 1 else {
            throw .openSSL(.badKey, call: "SSL_CTX_use_PrivateKey_file", place: keyFile)
        }
        guard SSL_CTX_check_private_key(context.raw) == 1 else {
            throw .openSSL(.badKey, call: "SSL_CTX_check_private_key", place: keyFile)
        }
        SSL_CTX_set_alpn_select_cb(context.raw, chooseHTTP2, nil)
        return context
    }
}

/// Selects `h2`. A client that uses ALPN without offering `h2` is refused; a client without ALPN is accepted and gets no protocol.
private func chooseHTTP2(
    _: OpaquePointer?, _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ chosenCount: UnsafeMutablePointer<UInt8>?,
    _ offered: UnsafePointer<UInt8>?, _ offeredCount: UInt32, _: UnsafeMutableRawPointer?
) -> CInt {
    let offers = UnsafeBufferPointer(start: offered, count: Int(offeredCount))
    var position = 0
    while position < offers.count {
        // OpenSSL has checked that the lengths add up; a truncated name would end the search in any case.
        let name = position + 1..<min(position + 1 + Int(offers[position]), offers.count)
        if offers[name].elementsEqual("h2".utf8) {
            chosen?.pointee = offered?.advanced(by: name.lowerBound)
            chosenCount?.pointee = 2
            return SSL_TLSEXT_ERR_OK
        }
        position = name.upperBound
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL
}
