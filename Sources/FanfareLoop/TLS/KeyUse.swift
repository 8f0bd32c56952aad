/// Use of the key that this side encrypts with.
struct KeyUse {
    /// Records that we encrypt with one key of TLS 1.3. AES-GCM is safe for 2^24.5 full records (RFC 8446 §5.5), some hours
    /// of the fastest sender; the peer answers with a new key of its own. A variable for tests.
    var recordsMax = 1 << 24
    private var records = 0
    private(set) var updates = 0

    /// Notes that a record is about to be encrypted. Returns `true` if it needs a new key.
    mutating func noteRecord() -> Bool {
        records += 1
        guard records > recordsMax else { return false }
        records = 0
        return true
    }

    mutating func noteUpdate() { updates += 1 }
}
