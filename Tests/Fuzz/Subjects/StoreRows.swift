import FanfareLog

/// Content of a row of changed cards, without its checksum: with a right one, whatever the bytes are, a row is written as it was read, or refused.
///
/// - Returns: whether the row was read.
@discardableResult func runChangedCard(_ bytes: [UInt8]) -> Bool {
    let row = LogEntry.sealed(bytes[...], at: 1)
    guard let changed = ChangedCard(row, number: 1) else { return false }
    promise(changed.row(number: 1) == row, "a changed card is written otherwise")
    return true
}

/// Content of the head of completions, without its checksum: with a right one, whatever the bytes are, it is read back as it was written, or refused.
///
/// - Returns: whether the head was read.
@discardableResult func runCompletionHead(_ bytes: [UInt8]) -> Bool {
    guard let head = try? CompletionHead(LogEntry.sealed(bytes[...], at: CompletionHead.key)) else { return false }
    promise((try? CompletionHead(head.bytes())) == head, "a head of completions is read back otherwise")
    return true
}

/// Content of the file of entries that are set aside: whatever the bytes are, it is read back as it was written, or refused.
///
/// - Returns: whether the file was read.
@discardableResult func runSkippedEntries(_ bytes: [UInt8]) -> Bool {
    guard let skipped = try? SkippedEntries(lines: bytes, path: "skipped") else { return false }
    let lines = skipped.lines
    promise(
        (try? SkippedEntries(lines: lines, path: "skipped"))?.lines == lines,
        "entries that are set aside are read back otherwise")
    return true
}
