import FanfareLog
import FanfareModel

/// Content of a row of the claims' folder, without its checksum, after a byte that tells the row's kind: with a right checksum, whatever the bytes are, a
/// row is read back as it was written, or refused.
///
/// - Returns: whether the row was read.
@discardableResult func runClaims(_ bytes: [UInt8]) -> Bool {
    guard let kind = bytes.first else { return false }
    let content = bytes.dropFirst()
    return switch kind % 4 {
    case 0: readsClaims(content)
    case 1: readsCompletion(content, CompletionKey(birth: 0, app: 1), packed: 1)
    case 2: readsClaimsOfStarts(content)
    default: readsCompletion(content, CompletionKey(birth: 0, app: 1, of: .lineups), packed: 1 << 15 | 1)
    }
}

private func readsClaims(_ content: ArraySlice<UInt8>) -> Bool {
    guard let claims = try? StoredClaims(LogEntry.sealed(content, at: 1), key: 1) else { return false }
    promise((try? StoredClaims(claims.bytes(key: 1), key: 1)) == claims, "claims are read back otherwise")
    return true
}

private func readsClaimsOfStarts(_ content: ArraySlice<UInt8>) -> Bool {
    guard let claims = try? StoredClaims(LogEntry.sealed(content, at: 1), ofStartsAt: 1) else { return false }
    promise(
        (try? StoredClaims(claims.bytes(ofStartsAt: 1), ofStartsAt: 1)) == claims,
        "claims of starts are read back otherwise")
    return true
}

/// Form of a completion of lineups, which releases that know followers alone refuse.
private let formOfLineups: UInt8 = 3

/// - Parameter packed: the key in the number that the row's checksum covers.
private func readsCompletion(_ content: ArraySlice<UInt8>, _ key: CompletionKey, packed: UInt64) -> Bool {
    guard let completion = try? StoredCompletion(LogEntry.sealed(content, at: packed), key: key) else { return false }
    promise(
        (try? StoredCompletion(completion.bytes(key: key), key: key)) == completion,
        "a completion is read back otherwise")
    promise((content.first == formOfLineups) == (key.scope == .lineups), "a completion of another scope is read")
    return true
}
