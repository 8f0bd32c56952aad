/// Serials of the newest cards by their names. A card without an app is that of any app: an imported file need not name the only one.
struct NewestCards {
    /// Serials by name. A name without an app has only the serials of cards without an app.
    private var serials: [CardName: UInt64] = [:]
    /// Serials by name, whatever the card's app.
    private var anyApp: [CardName: UInt64] = [:]

    /// Notes a card. Cards are noted in the order of their serials.
    mutating func note(_ name: CardName, _ serial: UInt64) {
        serials[name] = serial
        anyApp[name.inAnyApp] = serial
    }

    /// Returns whether a later card takes the place of this one.
    func isReplaced(_ name: CardName, _ serial: UInt64) -> Bool {
        guard name.app != nil else { return anyApp[name].map { $0 > serial } ?? false }
        return [serials[name], serials[name.inAnyApp]].contains { $0.map { $0 > serial } ?? false }
    }
}
