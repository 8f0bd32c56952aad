internal import CFanfareOpenSSL

/// The 32 bytes of SHA-256.
public func sha256(_ bytes: some Collection<UInt8>) -> [UInt8] {
    let input = Array(bytes)
    return [UInt8](unsafeUninitializedCapacity: 32) { digest, count in
        SHA256(input, input.count, digest.baseAddress)  // has no way to fail
        count = 32
    }
}
