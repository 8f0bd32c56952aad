import FanfareModel

/// The key that signs, and one to fall back on.
///
/// A key that APNs accepts is not given up for one that cannot be right: Apple's ids name one key each, so another key under the id of the
/// one in use waits until that is refused. Where APNs refuses a new key and has accepted the one before, that one signs again.
struct SigningKeys {
    private(set) var current: ProviderToken.Key
    /// Counts changes from 1. Connections belong to one key.
    private(set) var serial: UInt64 = 1
    /// Why the key that was found last does not sign, for operators.
    private(set) var complaint: String?
    /// APNs has accepted the current one.
    private var isAccepted = false
    /// The current one was fallen back on.
    private var isFallback = false
    private var spare: ProviderToken.Key?
    /// Since APNs accepted one; and changes since then that were no choice of the key file's.
    private var refusals = 0
    private var fallbacks = 0
    /// Monotonic nanoseconds.
    private var refusedSince: Int64?

    /// A server that has not heard of a key yet is one of many: before it has refused so many, another one has accepted some.
    static let refusalsMin = 10
    /// Nanoseconds; as long as a time is kept to. A key that had been accepted is not given up for one sick server.
    private static let patience = ProviderToken.turnMin.milliseconds * 1_000_000

    init(_ key: ProviderToken.Key) { current = key }

    private var isGood: Bool { isAccepted && refusals == 0 }

    /// The key file holds another key than at the last look.
    ///
    /// - Returns: whether that one signs from now on.
    mutating func found(_ key: ProviderToken.Key, in path: String) -> Bool {
        complaint = nil
        guard key.id != current.id || key.publicKey != current.publicKey else {
            spare = nil
            return false
        }
        guard key.id != current.id || !isGood else {
            spare = key
            complaint =
                "key file \(path) holds another key, and APNs accepts the one before under the id \(key.id): say the new one's own id "
                + "(or leave the file its name, AuthKey_<id>.p8, and say none); the key \(current.id) is used"
            return false
        }
        change(to: key, keeping: isGood ? current : nil, isFallback: false)
        return true
    }

    mutating func accepted() {
        // A key that has done its time is nothing to go back to: it is to be revoked.
        if !isFallback, spare?.id != current.id { spare = nil }
        isAccepted = true
        fallbacks = 0
        refusals = 0
        refusedSince = nil
    }

    /// APNs has refused what the current key signed, and no other time would help.
    ///
    /// - Returns: whether another one signs from now on.
    mutating func refused(at now: Int64) -> Bool {
        refusals += 1
        let since = refusedSince ?? now
        refusedSince = since
        let isSuspect = isAccepted || isFallback
        // All connections are replaced with each change: where both keys are refused, the changes become rare.
        let patience = isSuspect ? SigningKeys.patience << min(fallbacks, 7) : 0
        guard let other = spare, refusals >= SigningKeys.refusalsMin, now - since >= patience else { return false }
        fallbacks += 1
        complaint = "APNs refuses the key \(current.id); the key \(other.id) is used"
        change(to: other, keeping: current, isFallback: true)
        return true
    }

    private mutating func change(to key: ProviderToken.Key, keeping former: ProviderToken.Key?, isFallback: Bool) {
        (current, spare, self.isFallback) = (key, former, isFallback)
        serial += 1
        isAccepted = false
        refusals = 0
        refusedSince = nil
    }
}
