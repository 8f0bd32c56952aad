import FanfareModel
import FanfareQueues

/// The activities of one shard. Slots are reused; `generation` tells tenants apart.
struct ActivityStore {

    // `ActivityStore+Runs` writes to this, too.
    var activities = GrowingColumn<Activity>()
    /// Place of each slot in its audience's `SweepOrder`, which keeps this column up to date. It is apart from `Activity` because a
    /// departure writes to the places of three slots and to no other property of them.
    var positions = GrowingColumn<UInt32>()
    /// Preferences by slot; empty while all activities have the default ones.
    private(set) var preferences = GrowingColumn<Preferences>()
    var alertMemory = AlertMemory()
    var tokens = TokenStore()
    var stamps = StampUse()
    private var free = SegmentedArray<ActivitySlot>()
    private(set) var slots = SlotTable()

    var count: Int { slots.count }

    /// Reserves room for this many activities.
    ///
    /// - Parameter idSize: size of an id's text; `zero` if the activities have none.
    mutating func reserve(_ count: Int, idSize: ByteCount = .zero) {
        activities.reserveCapacity(count)
        positions.reserveCapacity(count)
        slots.reserve(count)
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
            preferences.append(repeating: Preferences(), count: activities.count)
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
        slots.remove(slot, in: activities)
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
        slots.remove(slot, in: activities)
        self[slot].generation = (self[slot].generation | 255) &+ 1
        self[slot].flags = []
        if !preferences.isEmpty { preferences[Int(slot.rawValue)] = Preferences() }
        self[slot].audience = AudienceIndex.none
        free.append(slot)
    }
}
