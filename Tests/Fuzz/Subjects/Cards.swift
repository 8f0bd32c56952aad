import FanfareLog

/// Content of a card's row, without its checksum: with a right one, whatever the bytes are, a card is read back as it was written or
/// refused.
///
/// - Returns: whether the card was read.
@discardableResult func runCard(_ bytes: [UInt8]) -> Bool {
    guard let card = try? Card(LogEntry.sealed(bytes[...], at: 1), serial: 1) else { return false }
    // Bytes are compared, because a start's attributes may have numbers that are equal to nothing.
    let written = card.bytes(serial: 1)
    promise((try? Card(written, serial: 1))?.bytes(serial: 1) == written, "a card is read back otherwise")
    return true
}
