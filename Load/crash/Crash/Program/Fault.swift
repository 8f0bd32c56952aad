/// A fault that the program commits on purpose, so that a run shows that the judge sees it.
package enum Fault: String, CaseIterable, Sendable {
    /// Answers `durable` before the engine has the request.
    case acknowledgedEarly = "acknowledged-early"
    /// Hands in an event again under another id, with the same alert.
    case alertTwice = "alert-twice"
    /// Answers a new token's request, and keeps the old one.
    case tokenKept = "token-kept"
    /// Answers a request for other preferences, and keeps the old ones.
    case preferencesIgnored = "preferences-ignored"
    /// Answers the confirmation of a start, and forgets it.
    case confirmationForgotten = "confirmation-forgotten"
    /// Answers an unfollow, and keeps the card.
    case unfollowForgotten = "unfollow-forgotten"
    /// Forgets the idempotency keys of earlier lives.
    case keyForgotten = "key-forgotten"
    /// Answers a call with a known idempotency key as a repeated one, and carries it out again.
    case repeatTaken = "repeat-taken"
    /// Shows an older number again, behind the newer one.
    case versionBack = "version-back"
    /// Sends a state again to everybody, as a restart may do once.
    case sentAgain = "sent-again"
    /// Shows a new number with the text of another one.
    case noteKept = "note-kept"

    /// Words of the violations by which the judge tells the fault, one of which is enough.
    package var words: [String] {
        switch self {
        case .acknowledgedEarly:
            ["is acknowledged at", "goes back", "comes to a card that had left it"]
        case .alertTwice: [" twice"]
        case .tokenKept: ["comes to a token that had been replaced"]
        case .preferencesIgnored: ["comes to a card that wants none"]
        case .confirmationForgotten: ["a start was confirmed"]
        case .unfollowForgotten: ["comes to a card that had left it", "no end has come"]
        case .keyForgotten: ["a repeated call is answered as a new one"]
        case .repeatTaken: ["goes back from", " twice", " starts"]
        case .versionBack: ["goes back from"]
        case .noteKept: ["a state that no topic has"]
        case .sentAgain: ["a state is sent again to a card that has it"]
        }
    }
}
