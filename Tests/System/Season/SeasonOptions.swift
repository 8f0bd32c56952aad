/// What a season is to be.
struct SeasonOptions {
    var days = 30
    var topicsPerDay = 100_000
    var seed: UInt64 = 1
    /// Bytes leaked with each topic, to show that a season finds a leak.
    var leak = 0
    /// A new folder for a store; `nil` for a season without one.
    var store: String?
    /// Leaks of the store, to show that a season finds them, too.
    var storeLeaks = StoreLeaks()
}
