import FanfareModel

/// The key that signs, and one to fall back on.
///
/// A key that APNs accepts does not give way to one that cannot be right: each of Apple's ids names one key, so another key under the
/// id of the current one waits until that is refused. If APNs refuses a new key and has accepted the one before, that one signs again.
struct SigningKeys {
    private(set) var current: SigningKey
    /// Number of the current key, counted from 1. A connection belongs to one key.
    private(set) var serial: UInt64 = 1
    /// Reason why the key that was found last does not sign, for operators.
    private(set) var complaint: String?
    /// `true` once APNs has accepted the current key.
    private var isAccepted = false
    /// `true` if the current key is a fallback.
    private var isFallback = false
    private var spare: SigningKey?
    /// Refusals since APNs last accepted a key, or since the last change of keys.
    private var refusals = 0
    /// Fallbacks since APNs last accepted a key.
    private var fallbacks = 0
    /// Start of the current key's refusals.
    private var refusedSince: MonotonicTime?

    /// Minimum number of refusals before a fallback. A server that has not heard of a key yet is one of many, and another
    /// one would have accepted some pushes by then.
    static let refusalsMin = 10
    /// Minimum time of refusals before a fallback: less than the minute between two tries of a pool whose pushes all fail. One broken
    /// server does not displace an accepted key.
    static let patience = Duration.seconds(30)

    init(_ key: SigningKey) { current = key }

    private var isGood: Bool { isAccepted && refusals == 0 }

    /// Handles a key file that holds another key than at the last check.
    ///
    /// - Returns: `true` if that key signs from now on.
    mutating func found(_ key: SigningKey, in path: String) -> Bool {
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
        change(to: key, keeping: fallback(for: key), isFallback: false)
        return true
    }

    /// Returns the key that signs again if APNs refuses `key`: the newest one that APNs has accepted. A key that waits for its
    /// first answer is none, and does not displace the one before it; neither is an accepted key that APNs refuses now.
    private func fallback(for key: SigningKey) -> SigningKey? {
        if isGood || isFallback { return current }
        guard !isAccepted, let spare, spare.id != key.id else { return nil }
        return spare
    }

    mutating func accepted() {
        // A key that has been replaced for good is no fallback, because it is to be revoked.
        if !isFallback, spare?.id != current.id { spare = nil }
        isAccepted = true
        fallbacks = 0
        refusals = 0
        refusedSince = nil
    }

    /// Records that APNs has refused a signature of the current key, and that no other time would help.
    ///
    /// - Returns: `true` if another key signs from now on.
    mutating func refused(at now: MonotonicTime) -> Bool {
        refusals += 1
        let since = refusedSince ?? now
        refusedSince = since
        let isSuspect = isAccepted || isFallback
        // A change replaces all connections, so changes become rare if both keys are refused.
        let patience = isSuspect ? SigningKeys.patience * (1 << min(fallbacks, 7)) : .zero
        guard let other = spare, refusals >= SigningKeys.refusalsMin, now - since >= patience else { return false }
        fallbacks += 1
        complaint = "APNs refuses the key \(current.id); the key \(other.id) is used"
        change(to: other, keeping: current, isFallback: true)
        return true
    }

    private mutating func change(to key: SigningKey, keeping former: SigningKey?, isFallback: Bool) {
        (current, spare, self.isFallback) = (key, former, isFallback)
        serial += 1
        isAccepted = false
        refusals = 0
        refusedSince = nil
    }
}
