import FanfareLog

/// Findings of the thread that read the store's cards, beside the cards of the shards.
package struct LoadedCards {
    /// Cards that are being started, as far as the engine knows.
    var starting: [Card] = []
    /// Lines for operators about cards that are left out.
    var lines: [String] = []
    /// Is `true` if cards of a slice are unreadable.
    var lacksSlices = false
}
