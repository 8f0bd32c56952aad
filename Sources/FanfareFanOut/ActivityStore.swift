import FanfareModel

/// Everything a shard knows of one activity, 48 bytes and its token.
struct Activity {
    var id: ActivityID
    var token = TokenStore.Reference()
    // Beside the token's reference, whose eight bytes these two fill up.
    var flags: Flags = []
    var strikes = Strikes()
    /// Index of the audience, or `none` when the activity is leaving or the slot is free.
    var audience = ActivityStore.noAudience
    /// Counts the slot's tenants, in steps of 256, and between two of them the waits that a tenant was freed from: what belongs to an
    /// earlier one of either is recognised and ignored.
    var generation: UInt32 = 0
    var tenant: UInt32 { generation >> 8 }
    /// The newest version whose delivery is settled: accepted, or refused for good and counted as failed.
    var delivered: UInt32 = 0
    /// Alerts up to this version have had their chance with this activity: sent, superseded, revoked or stale. A push in flight
    /// counts when it comes back: one that was certainly not processed was no chance.
    var alerted: UInt32 = 0
    /// Version of the last push, and of the one in flight, from the audience that the activity is in now; 0 when there is none.
    var sending: UInt32 = 0
    /// The alert that the push in flight carries, or was the chance of; `refused` once the last push has been.
    var sendingAlert = AlertChance.none
    /// Greatest `aps.timestamp` ever sent, Unix seconds. Travels with the activity when it changes audience.
    var stamp: UInt32 = 0
    /// When its card appeared, or its start left, as far as is known: `Moment.monotonicSeconds`. Before that, when it was asked for.
    var startedAt: UInt32 = 0
    /// What it has claimed of its limits, as of `stamp`.
    var spent = SubscriberGovernor.Spent()

    struct Flags: OptionSet {
        let rawValue: UInt8
        /// One push at a time; its completion clears it.
        static let inFlight = Flags(rawValue: 1)
        /// Owed a push though `delivered` is the newest version: a joiner's first one, or a repeat after an unknown outcome.
        static let owedFirst = Flags(rawValue: 2)
        /// Waits in the timing wheel; nothing is sent before it is due.
        static let waiting = Flags(rawValue: 4)
        /// Stands in its audience's `again` list.
        static let queued = Flags(rawValue: 8)
        /// Unfollowed: owed one private end, then gone.
        static let leaving = Flags(rawValue: 16)
        /// The token was replaced while a push to the old one was in flight: a dead answer is the old token's.
        static let rotated = Flags(rawValue: 32)
        /// The push in flight is an `end`: once it is settled nothing follows.
        static let ending = Flags(rawValue: 64)
        /// Its update token is not known: the token is a start token, and the shard's `starts` have the rest.
        static let tokenless = Flags(rawValue: 128)
    }
}

/// The activities of one shard. Slots are reused; `generation` tells tenants apart.
struct ActivityStore {
    static let noAudience = UInt32.max

    // Written by `ActivityStore+Runs` too.
    var activities: [Activity] = []
    /// Place of each slot in its audience's `SweepOrder`, which keeps this array true. Apart from `Activity` because a
    /// departure writes to three slots here and to nothing else of them.
    var positions: [UInt32] = []
    /// By slot; empty until somebody has other preferences than everybody.
    private(set) var preferences: [Preferences] = []
    var alertMemory = AlertMemory()
    var tokens = TokenStore()
    private var free: [ActivitySlot] = []
    private var slots = SlotTable()

    var count: Int { slots.count }

    mutating func reserve(_ count: Int) {
        activities.reserveCapacity(count)
        positions.reserveCapacity(count)
        slots.reserve(count, in: activities)
        // Most tokens seen are 80 bytes (spec §1).
        tokens.reserve(tokens: count, bytesEach: 80)
    }

    subscript(_ slot: ActivitySlot) -> Activity {
        _read { yield activities[Int(slot.rawValue)] }
        _modify { yield &activities[Int(slot.rawValue)] }
    }

    func slot(of id: ActivityID) -> ActivitySlot? { slots.find(id, in: activities) }

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
        self[slot].token = tokens.insert(token)
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

    /// What the activity's preferences come to at a minute of the day, UTC.
    func effect(of index: Int, atMinute minute: Int) -> Preferences.Effect {
        preferences.isEmpty ? Preferences.Effect() : preferences[index].effect(atMinute: minute)
    }

    mutating func replaceToken(of slot: ActivitySlot, with token: [UInt8]) {
        tokens.remove(self[slot].token)
        self[slot].token = tokens.insert(token)
    }

    /// From here on the activity is found by this id, which is nobody's, only.
    mutating func rename(_ slot: ActivitySlot, to id: ActivityID) {
        slots.remove(self[slot].id, in: activities)
        self[slot].id = id
        slots.insert(slot, in: activities)
    }

    /// Frees the slot. From here on its generation is another one, so whatever still speaks of this activity is ignored.
    mutating func remove(_ slot: ActivitySlot) {
        tokens.remove(self[slot].token)
        slots.remove(self[slot].id, in: activities)
        self[slot].generation = (self[slot].generation | 255) &+ 1
        self[slot].flags = []
        if !preferences.isEmpty { preferences[Int(slot.rawValue)] = Preferences() }
        self[slot].audience = ActivityStore.noAudience
        free.append(slot)
    }
}
