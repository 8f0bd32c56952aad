/// The name of a phone's activity, which may mean another card before or after it.
struct CardNaming {
    /// Is `true` if the shard knows the phone: it was followed, or is to be started.
    var isIntroduced = false
    /// Is `true` if another card has its name since its own card was unfollowed.
    private(set) var isDetached = false
    /// Is `true` if earlier cards had its name.
    var wasUsed = false
    /// Is `true` if it is gone and the core has heard everything about it, so that its name is free.
    var isForgotten = false

    mutating func detach() { isDetached = true }
}
