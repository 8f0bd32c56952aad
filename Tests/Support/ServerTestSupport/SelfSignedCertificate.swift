internal import CFanfareOpenSSL
package import FanfareLoop

/// A self-signed certificate for local simulators and tests. Servers use it with its key; clients trust it by naming the
/// certificate as their CA file.
package struct SelfSignedCertificate: Sendable {
    /// The certificate as PEM.
    package let certificate: String
    /// The private key as PEM, PKCS#8, not encrypted: a secret.
    package let key: String

    /// - Parameters:
    ///   - hosts: names and numeric addresses that the certificate is valid for; at least one.
    ///   - commonName: a name for people; clients take no host name from it.
    ///   - validSince: age of the certificate; an hour allows for clocks that differ.
    ///   - validFor: validity from now on; negative for an expired certificate.
    package init(
        hosts: [String], commonName: String = "Fanfare local", validSince: Duration = .seconds(3600),
        validFor: Duration = .seconds(30 * 86_400)
    ) throws(LoopError) {
        let alternatives = hosts.map { (SocketAddress(ip: $0, port: 0) == nil ? "DNS:" : "IP:") + $0 }
        let pair = try P256Key.generate()
        guard let x509 = X509_new() else { throw .openSSL(.badKey, call: "X509_new") }
        defer { X509_free(x509) }
        var serial: UInt64 = 0
        withUnsafeMutableBytes(of: &serial) { _ = RAND_bytes($0.baseAddress, CInt($0.count)) }
        let name = X509_get_subject_name(x509)
        guard X509_set_version(x509, 2) == 1,  // counts from 0: version 3
            ASN1_INTEGER_set_uint64(X509_get_serialNumber(x509), serial >> 1) == 1,
            X509_gmtime_adj(X509_getm_notBefore(x509), -Int(validSince.components.seconds)) != nil,
            X509_gmtime_adj(X509_getm_notAfter(x509), Int(validFor.components.seconds)) != nil,
            X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, commonName, -1, -1, 0) == 1,
            X509_set_issuer_name(x509, name) == 1,
            X509_set_pubkey(x509, pair.raw) == 1
        else { throw .openSSL(.badKey, call: "X509_set") }
        try SelfSignedCertificate.extend(x509, NID_basic_constraints, "critical,CA:TRUE")
        try SelfSignedCertificate.extend(x509, NID_subject_alt_name, alternatives.joined(separator: ","))
        guard X509_sign(x509, pair.raw, EVP_sha256()) > 0 else { throw .openSSL(.badKey, call: "X509_sign") }
        certificate = try withPEM("PEM_write_bio_X509") { PEM_write_bio_X509($0, x509) }
        key = try withPEM("PEM_write_bio_PKCS8PrivateKey") {
            PEM_write_bio_PKCS8PrivateKey($0, pair.raw, nil, nil, 0, nil, nil)
        }
    }

    private static func extend(_ x509: OpaquePointer, _ nid: CInt, _ value: String) throws(LoopError) {
        guard let made = X509V3_EXT_conf_nid(nil, nil, nid, value) else {
            throw .openSSL(.badKey, call: "X509V3_EXT_conf_nid", place: value)
        }
        defer { X509_EXTENSION_free(made) }
        guard X509_add_ext(x509, made, -1) == 1 else { throw .openSSL(.badKey, call: "X509_add_ext") }
    }
}
