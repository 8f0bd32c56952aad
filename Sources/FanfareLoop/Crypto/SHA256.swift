internal import CFanfareOpenSSL

/// The 32 bytes of SHA-256.
package func sha256(_ bytes: some Collection<UInt8>) -> [UInt8] {
    let input = Array(bytes)
    return [UInt8](unsafeUninitializedCapacity: 32) { digest, count in
        // Fails only without memory.
        let isDone = EVP_Digest(input, input.count, digest.baseAddress, nil, algorithm, nil) == 1
        precondition(isDone, "EVP_Digest")
        count = 32
    }
}

/// Looked up once: OpenSSL's own one-call functions look it up under a lock each time, which costs more than a short hash.
/// OpenSSL only reads it; `nil` would fail above, and cannot be as long as there is a default provider.
nonisolated(unsafe) private let algorithm = EVP_MD_fetch(nil, "SHA256", nil)
