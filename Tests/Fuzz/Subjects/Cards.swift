import FanfareLog

/// Content of a card's row, without its checksum: with a right one, whatever the bytes are, a card is read back as it was written or
/// refused.
func runCard(_ bytes: [UInt8]) {
    guard let card = try? Card(LogEntry.sealed(bytes[...], at: 1), serial: 1) else { return }
    promise((try? Card(card.bytes(serial: 1), serial: 1)) == card, "a card is read back otherwise")
}
