import FanfareLog

/// Content of a log's entry, without its checksum: with a right one, whatever the bytes are, an entry is read back as it was written or
/// refused.
func runLogEntry(_ bytes: [UInt8]) {
    guard let entry = try? LogEntry(LogEntry.sealed(bytes[...], at: 1), at: 1) else { return }
    let written = entry.bytes(at: 1)
    let again = try? LogEntry(written, at: 1)
    // NaN equals nothing, so bytes are compared.
    promise(again?.bytes(at: 1) == written, "an entry of \(written.count) bytes is read back otherwise")
}
