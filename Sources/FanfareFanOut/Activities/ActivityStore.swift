import FanfareModel

/// The shard's record of one activity: 48 bytes, and its token.
struct Activity {
    /// Bits of the id. Its text is beside the token (`ActivityStore.name(of:)`).
    private var idBits: UInt64
    var id: ActivityID {
        get { ActivityID(idBits) }
        set { idBits = newValue.rawValue }
    }
    var token = TokenStore.Reference()
    // These two fill up the eight bytes that the token's reference begins.
    var flags: Flags = []
    var failures = FailureStreak()
    /// Index of the audience, or `none` when the activity is leaving or the slot is free.
    var audience = AudienceIndex.none
    /// Counter of the slot's tenants, in steps of 256; between two of them it counts the waits from which a tenant was released. Events
    /// of an earlier tenant or wait are recognised by it and ignored.
    var generation: UInt32 = 0
    var tenant: UInt32 { generation >> 8 }
    /// The newest version that was accepted, or that shows the same as the accepted one. A joiner has its audience's newest version from the
    /// beginning, with `needsPush` until its first push is accepted.
    var delivered: UInt32 = 0
    /// The version up to which this activity's alerts are settled: sent, superseded, revoked or stale. A push in flight counts when its
    /// completion arrives; a push that was certainly not processed is no attempt.
    var alerted: UInt32 = 0
    /// Version of the last push or of the one in flight, of the activity's present audience; 0 before the first.
    var sending: UInt32 = 0
    /// The alert that the push in flight carries, or would have carried; `refused` after the last push has been refused.
    var sendingAlert = AlertAttempt.none
    /// Greatest `aps.timestamp` ever sent, Unix seconds. It stays with the activity when the audience changes.
    var stamp: UInt32 = 0
    /// The time at which the card appeared or its start left, as far as known; before that, the time of the request.
    var startedAt = CardStart()
    /// Use of the activity's limits, as of `stamp`.
    var budgetUse = SubscriberGovernor.BudgetUse()

    init(id: ActivityID) { idBits = id.rawValue }

    struct Flags: OptionSet {
        let rawValue: UInt8
        /// A push is in flight. There is one at a time; its completion clears the flag.
        static let inFlight = Flags(rawValue: 1)
        /// A push is pending although `delivered` is the newest version: a joiner's first one, or a repeat after an unknown outcome.
        static let needsPush = Flags(rawValue: 2)
        /// The activity backs off, or is held by the dead-token guard; nothing is sent before it is released.
        static let suspended = Flags(rawValue: 4)
        /// The activity has an entry in its audience's `revisits`.
        static let queued = Flags(rawValue: 8)
        /// The activity was unfollowed: one private end is pending, then the activity is removed.
        static let leaving = Flags(rawValue: 16)
        /// The token was replaced while a push to the old one was in flight: a dead-token answer is about the old token.
        static let rotated = Flags(rawValue: 32)
        /// The push in flight is an `end`; nothing follows after it is settled.
        static let ending = Flags(rawValue: 64)
        /// The update token is not known: the token is a start token, and the shard's `starts` have the rest.
        static let tokenless = Flags(rawValue: 128)
    }
}

/// The activities of one shard. Slots are reused; `generation` tells tenants apart.
struct ActivityStore {

    // `ActivityStore+Runs` writes to this, too.
    var activities: [Activity] = []
    /// Place of each slot in its audience's `SweepOrder`, which keeps this array up to date. It is apart from `Activity` because a
    /// departure writes to the places of three slots and to no other property of them.
    var positions: [UInt32] = []
    /// Preferences by slot; empty while all activities have the default ones.
    private(set) var preferences: [Preferences] = []
    var alertMemory = AlertMemory()
    var tokens = TokenStore()
    var stamps = StampUse()
    private var free: [ActivitySlot] = []
    private(set) var slots = SlotTable()

    var count: Int { slots.count }

    /// Reserves room for this many activities.
    ///
    /// - Parameter idSize: size of an id's text; `zero` if the activities have none.
    mutating func reserve(_ count: Int, idSize: ByteCount = .zero) {
        activities.reserveCapacity(count)
        positions.reserveCapacity(count)
        slots.reserve(count, in: activities)
        // Most tokens seen are 80 bytes (spec §1).
        tokens.reserve(tokens: count, size: idSize == .zero ? .bytes(80) : .bytes(81) + idSize)
    }

    subscript(_ slot: ActivitySlot) -> Activity {
        _read { yield activities[Int(slot.rawValue)] }
        _modify { yield &activities[Int(slot.rawValue)] }
    }

    mutating func insert(_ id: ActivityID, token: [UInt8]) -> ActivitySlot {
        let slot: ActivitySlot
        if let reused = free.popLast() {
            slot = reused
            let generation = self[slot].generation
            self[slot] = Activity(id: id)
            self[slot].generation = generation
        } else {
            slot = ActivitySlot(UInt32(activities.count))
            activities.append(Activity(id: id))
            positions.append(0)
            if !preferences.isEmpty { preferences.append(Preferences()) }
        }
        alertMemory.forget(slot)
        self[slot].token = tokens.insert(token, text: id.text)
        slots.insert(slot, in: activities)
        return slot
    }

    func preferences(of slot: ActivitySlot) -> Preferences {
        preferences.isEmpty ? Preferences() : preferences[Int(slot.rawValue)]
    }

    mutating func setPreferences(of slot: ActivitySlot, to new: Preferences) {
        if preferences.isEmpty {
            if new == Preferences() { return }
            preferences.reserveCapacity(activities.capacity)
            preferences.append(contentsOf: repeatElement(Preferences(), count: activities.count))
        }
        preferences[Int(slot.rawValue)] = new
    }

    /// Returns the effect of the activity's preferences at a minute of the day, UTC.
    func effect(of index: Int, atMinute minute: Int) -> Preferences.Effect {
        preferences.isEmpty ? Preferences.Effect() : preferences[index].effect(atMinute: minute)
    }

    /// Returns the activity's id with its text.
    func name(of slot: ActivitySlot) -> ActivityID { ActivityID(self[slot].id, text: tokens.text(self[slot].token)) }

    mutating func replaceToken(of slot: ActivitySlot, with token: [UInt8]) {
        let text = tokens.text(self[slot].token)
        tokens.remove(self[slot].token)
        self[slot].token = tokens.insert(token, text: text)
    }

    /// Replaces the activity's id: the activity is found only by this one from now on. No other activity may have it. The token's text stays the
    /// former id's, and nothing is reported under either of them.
    mutating func rename(_ slot: ActivitySlot, to id: ActivityID) {
        slots.remove(self[slot].id, in: activities)
        self[slot].id = id
        slots.insert(slot, in: activities)
    }

    /// Describes columns of different lengths, slots that are neither living nor free, or tokens in each other's places; `nil` if there are none.
    func violation() -> String? {
        guard positions.count == activities.count, preferences.isEmpty || preferences.count == activities.count else {
            return "\(activities.count) slots have \(positions.count) positions and \(preferences.count) preferences"
        }
        let isFree = Set(free.map { Int($0.rawValue) })
        guard isFree.count == free.count, slots.count + free.count == activities.count else {
            return "\(activities.count) slots are \(slots.count) living ones and \(isFree.count) free ones"
        }
        return slots.violation(in: activities) ?? alertMemory.violation(slots: activities.count)
            ?? tokens.violation(activities.indices.lazy.filter { !isFree.contains($0) }.map { activities[$0].token })
    }

    /// Frees the slot and changes its generation, so that later events of this activity are ignored.
    mutating func remove(_ slot: ActivitySlot) {
        tokens.remove(self[slot].token)
        slots.remove(self[slot].id, in: activities)
        self[slot].generation = (self[slot].generation | 255) &+ 1
        self[slot].flags = []
        if !preferences.isEmpty { preferences[Int(slot.rawValue)] = Preferences() }
        self[slot].audience = AudienceIndex.none
        free.append(slot)
    }
}
