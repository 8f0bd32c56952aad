import FanfareModel

/// What a sweep does, done to many activities at once: a decision is made for one of them, and carried out on all that follow
/// it and stand as it does. In the sweep of a large audience nearly all do, so what is left per push is a loop over two arrays.
///
/// After churn every activity and every token is a cache miss. A processor waits for many at once if it sees them soon enough,
/// that is if little is done between one and the next: so what is read first is read in loops of its own.
extension ActivityStore {
    /// Sends the push to the first of `slots` and to as many after it as stand like that one and are granted the same.
    ///
    /// - Returns: how many got it; at least one, as the payload's stamp is one that the first takes.
    mutating func send(
        _ push: Push, to slots: ArraySlice<ActivitySlot>, by governor: SubscriberGovernor,
        into batch: inout DeliveryBatch
    ) -> Int {
        let stamp = UInt32(clamping: push.payload.stamp)
        let preferences = preferences
        let firstIndex = Int(slots[slots.startIndex].rawValue)
        let first = activities[firstIndex]
        func effect(_ index: Int) -> Preferences.Effect {
            preferences.isEmpty ? Preferences.Effect() : preferences[index].effect(atMinute: push.minute)
        }
        // Who has used up as much by the same second, and wants the same, is granted the same, and has as much left: nearly all.
        var areEqual = true
        let alike = slots.prefix {
            let index = Int($0.rawValue)
            let activity = self.activities[index]
            guard activity.delivered == first.delivered, activity.alerted == first.alerted,
                activity.flags == first.flags
            else { return false }
            if activity.sendingAlert == first.sendingAlert, activity.stamp == first.stamp,
                activity.spent == first.spent, first.stamp < stamp,
                preferences.isEmpty || preferences[index] == preferences[firstIndex]
            {
                return true
            }
            guard activity.wasRefused == first.wasRefused, activity.takes(push.version, stamped: stamp),
                governor.grant(push.wish, to: activity.spent, effect(index), after: stamp - activity.stamp)
                    == push.grant
            else { return false }
            areEqual = false
            return true
        }
        tokens.fetch(alike, activities)
        let tokens = tokens
        let payload = batch.index(of: push.payload)
        let flags: Activity.Flags = push.payload.event == .end ? [.inFlight, .ending] : .inFlight
        let chance = push.isCharged ? push.alert.chargedAtTen : push.alert
        let spent = governor.charged(
            push.wish, push.grant, first.spent, effect(firstIndex), after: stamp - first.stamp)
        var activities = activities.mutableSpan
        for slot in alike {
            let index = Int(slot.rawValue)
            batch.append(
                slot: slot, generation: activities[index].generation, payload: payload,
                token: activities[index].token, of: tokens)
            // In one access, so that the place is looked up once.
            let left =
                areEqual
                ? spent
                : governor.charged(
                    push.wish, push.grant, activities[index].spent, effect(index),
                    after: stamp - activities[index].stamp)
            activities[index].depart(flags, push.version, chance, stamp, left)
        }
        return alike.count
    }

    /// Takes note of accepted pushes: of `completions[start]`, whose activity is `first`, and of as many after it as belong to
    /// activities like that one.
    ///
    /// - Returns: how many.
    mutating func settle(_ completions: [Completion], from start: Int, like first: Activity) -> Int {
        var activities = activities.mutableSpan
        var position = start
        while position < completions.count {
            let completion = completions[position]
            let index = Int(completion.slot.rawValue)
            guard completion.outcome == .accepted, index < activities.count,
                activities[index].generation == completion.generation, activities[index].settles(like: first)
            else { break }
            activities[index].flags = []
            activities[index].strikes = Strikes()
            activities[index].delivered = first.sending
            activities[index].alerted = first.sending
            position += 1
        }
        return position - start
    }
}

/// One push for many activities.
struct Push {
    let payload: Payload
    /// Of the audience; 0 for a private end.
    let version: UInt32
    let alert: AlertChance
    let wish: SubscriberGovernor.Wish
    let grant: SubscriberGovernor.Grant
    /// Of the day, UTC, at which it leaves.
    let minute: Int

    /// It counts as one at priority 10.
    var isCharged: Bool { grant.priority == .immediate && !wish.isEnd }
}

extension Push {
    /// A start or an end that is one activity's own: no version of its audience, and no limit holds it back.
    ///
    /// - Parameter alert: the class of the alert that the activity pays for. A start's is free.
    init(ofOne payload: Payload, telling alert: AlertClass? = nil) {
        self.init(
            payload: payload, version: 0, alert: alert == nil ? .none : .paid,
            wish: SubscriberGovernor.Wish(alert: alert, priority: .immediate, isEnd: true),
            grant: SubscriberGovernor.Grant(priority: .immediate, silence: nil), minute: 0)
    }
}

extension Activity {
    fileprivate mutating func depart(
        _ flags: Flags, _ version: UInt32, _ alert: AlertChance, _ stamp: UInt32, _ spent: SubscriberGovernor.Spent
    ) {
        self.flags.formUnion(flags)
        sending = version
        sendingAlert = alert
        self.stamp = stamp
        self.spent = spent
    }

    /// Its card does not show what it was sent last.
    fileprivate var wasRefused: Bool { sendingAlert == .refused }

    /// It has had no other state with this stamp, nor a later one.
    fileprivate func takes(_ version: UInt32, stamped: UInt32) -> Bool {
        stamp < stamped || stamp == stamped && sending == version
    }

    /// Whether an accepted push means the same for the other one.
    fileprivate func settles(like other: Activity) -> Bool {
        flags == other.flags && audience == other.audience && sending == other.sending
            && sendingAlert == other.sendingAlert && delivered == other.delivered && alerted == other.alerted
    }
}
