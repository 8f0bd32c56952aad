/// The age of a card beside the time for which the system keeps it. The engine counts in seconds, and therefore may act a second early.
struct CardAge {
    let passed: Duration
    let lifetime: Duration

    /// Is `true` if the card is old enough to be renewed.
    var isRenewable: Bool { passed >= lifetime / 16 * 15 - .seconds(1) }
    /// Is `true` if the engine may end the card for its age now or within the second in which it counts.
    var isAlmostOver: Bool { passed >= lifetime / 48 * 47 - .seconds(1) }
    /// Is `true` when the system has ended the card of a person who left: its end is no longer sent.
    var isLetGo: Bool { passed >= lifetime - .seconds(1) }
    /// Is `true` once the system has certainly ended the card.
    var isOver: Bool { passed >= lifetime }
}
