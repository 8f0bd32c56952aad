internal import CFanfareOpenSSL

/// Returns the 32 bytes of the SHA-256 digest.
package func sha256(_ bytes: some Collection<UInt8>) -> [UInt8] {
    let input = Array(bytes)
    return unsafe [UInt8](unsafeUninitializedCapacity: 32) { digest, count in
        // The call fails only without memory.
        let isDone = unsafe EVP_Digest(input, input.count, digest.baseAddress, nil, algorithm, nil) == 1
        precondition(isDone, "EVP_Digest")
        count = 32
    }
}

/// SHA-256, fetched once: OpenSSL's one-call functions fetch it under a lock each time, which costs more than a short hash.
/// OpenSSL only reads it. `nil` would fail above, and is impossible while there is a default provider.
nonisolated(unsafe) private let algorithm = unsafe EVP_MD_fetch(nil, "SHA256", nil)
