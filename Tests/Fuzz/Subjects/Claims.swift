import FanfareLog

/// Content of a row of claims, of claims of starts where the first byte is 2, 6 and so on, or of a completion where it is odd, without its checksum: with a right one, whatever the bytes are,
/// a row is read back as it was written or refused.
///
/// - Returns: whether the row was read.
@discardableResult func runClaims(_ bytes: [UInt8]) -> Bool {
    guard let kind = bytes.first else { return false }
    let row = LogEntry.sealed(bytes.dropFirst(), at: 1)
    if kind % 4 == 2 {
        guard let claims = try? StoredClaims(row, ofStartsAt: 1) else { return false }
        promise(
            (try? StoredClaims(claims.bytes(ofStartsAt: 1), ofStartsAt: 1)) == claims,
            "claims of starts are read back otherwise")
    } else if kind % 2 == 0 {
        guard let claims = try? StoredClaims(row, key: 1) else { return false }
        promise((try? StoredClaims(claims.bytes(key: 1), key: 1)) == claims, "claims are read back otherwise")
    } else {
        let key = CompletionKey(birth: 0, app: 1)
        guard let completion = try? StoredCompletion(row, key: key) else { return false }
        promise(
            (try? StoredCompletion(completion.bytes(key: key), key: key)) == completion,
            "a completion is read back otherwise")
    }
    return true
}
