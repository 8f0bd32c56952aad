import FanfareModel
import FanfareQueues

/// A sweep's work on a run of activities: one decision is made for the first activity and applied to all that follow it in the
/// same state. In the sweep of a large audience nearly all are in one state, so the work per push is a loop over two arrays.
///
/// After churn every activity and every token is a cache miss. The processor overlaps many misses if little work lies between
/// them, so the data needed first is read in loops of its own.
extension ActivityStore {
    /// Sends the push to the first of `slots` and to the activities after it that are in the same state and get the same decision.
    ///
    /// - Returns: the number of activities that got it; at least one, because the first one may take the payload's stamp.
    mutating func send(
        _ push: Push, to slots: ArraySlice<ActivitySlot>, by governor: SubscriberGovernor,
        into batch: inout DeliveryBatch
    ) -> Int {
        let stamp = UInt32(clamping: push.payload.stamp)
        stamps.note(push.payload.stamp)
        let preferences = preferences
        let firstIndex = Int(slots[slots.startIndex].rawValue)
        let first = activities[firstIndex]
        func effect(_ index: Int) -> Preferences.Effect {
            preferences.isEmpty ? Preferences.Effect() : preferences[index].effect(atMinute: push.minute)
        }
        // Equal use as of the same second and an equal request lead to an equal decision and an equal remainder: the case of nearly all.
        var areEqual = true
        let alike = slots.prefix {
            let index = Int($0.rawValue)
            let activity = self.activities[index]
            guard activity.delivered == first.delivered, activity.alerted == first.alerted,
                activity.flags == first.flags
            else { return false }
            if activity.sendingAlert == first.sendingAlert, activity.stamp == first.stamp,
                activity.budgetUse == first.budgetUse, first.stamp < stamp,
                preferences.isEmpty || preferences[index] == preferences[firstIndex]
            {
                return true
            }
            guard activity.wasRefused == first.wasRefused, activity.takes(push.version, stamped: stamp),
                governor.decision(
                    on: push.request, for: activity.budgetUse, effect(index), after: stamp - activity.stamp)
                    == push.decision
            else { return false }
            areEqual = false
            return true
        }
        tokens.fetch(alike, activities)
        let tokens = tokens
        let payload = batch.index(of: push.payload)
        let flags: Activity.Flags = push.payload.event == .end ? [.inFlight, .ending] : .inFlight
        let attempt = push.isCharged ? push.alert.chargedAtTen : push.alert
        let budgetUse = governor.charged(
            push.request, push.decision, first.budgetUse, effect(firstIndex), after: stamp - first.stamp)
        let elements = unsafe activities.mutableElements()
        var activities = unsafe MutableSpan(_unsafeElements: elements)
        for slot in alike {
            let index = Int(slot.rawValue)
            batch.append(
                slot: slot, generation: activities[index].generation, payload: payload,
                token: activities[index].token, of: tokens)
            // One access, so that the array element is looked up once.
            let left =
                areEqual
                ? budgetUse
                : governor.charged(
                    push.request, push.decision, activities[index].budgetUse, effect(index),
                    after: stamp - activities[index].stamp)
            activities[index].noteSent(flags, version: push.version, attempt, stamp: stamp, left)
        }
        return alike.count
    }

    /// Sends a push to one activity, the member of a lineup.
    mutating func send(_ push: PushToOne, to slot: ActivitySlot, into batch: inout DeliveryBatch) {
        let index = Int(slot.rawValue)
        stamps.note(Int64(push.stamp))
        batch.append(
            slot: slot, generation: activities[index].generation, payload: push.payload,
            token: activities[index].token, of: tokens)
        activities[index].noteSent(
            .inFlight, version: push.version, push.alert, stamp: push.stamp, push.budgetUse)
    }

    /// Records that the push in flight to one activity, which carried this version, was accepted.
    mutating func settle(_ slot: ActivitySlot, at version: UInt32) {
        activities[Int(slot.rawValue)].settle(at: version)
    }

    /// Records that `completions[start]`, whose activity is `first`, and the completions after it for activities in the same state
    /// were accepted.
    ///
    /// - Returns: the number of completions in the run.
    mutating func settle(_ completions: [DeliveryCompletion], from start: Int, like first: Activity) -> Int {
        let elements = unsafe activities.mutableElements()
        var activities = unsafe MutableSpan(_unsafeElements: elements)
        var position = start
        while position < completions.count {
            let completion = completions[position]
            let index = Int(completion.slot.rawValue)
            guard completion.outcome == .accepted, index < activities.count,
                activities[index].generation == completion.generation, activities[index].settles(like: first)
            else { break }
            activities[index].settle(at: first.sending)
            position += 1
        }
        return position - start
    }
}

/// One push for many activities.
struct Push {
    let payload: Payload
    /// Version of the audience; 0 for a private end.
    let version: UInt32
    let alert: AlertAttempt
    let request: SubscriberGovernor.PushRequest
    let decision: SubscriberGovernor.PushDecision
    /// Minute of the day, UTC, at which the push leaves.
    let minute: Int

    /// Is `true` when the push counts against the budget for priority 10.
    var isCharged: Bool { decision.priority == .immediate && !request.isEnd }
}

/// A push to the member of a lineup.
struct PushToOne {
    /// Index of the payload in the batch.
    let payload: Int32
    let version: UInt32
    /// The alert, with the charge for the push.
    let alert: AlertAttempt
    let stamp: UInt32
    /// The activity's use of its limits after the push.
    let budgetUse: BudgetUse
}

extension Push {
    /// Creates a start or an end for one activity alone: it is no version of the audience, and no limit holds it back.
    ///
    /// - Parameter alert: the class of the alert that the activity is charged for. A start's alert is free.
    init(toOne payload: Payload, charging alert: AlertClass? = nil) {
        self.init(
            payload: payload, version: 0, alert: alert == nil ? .none : .paid,
            request: SubscriberGovernor.PushRequest(alert: alert, priority: .immediate, isEnd: true),
            decision: SubscriberGovernor.PushDecision(priority: .immediate, silence: nil), minute: 0)
    }
}

extension Activity {
    fileprivate mutating func noteSent(
        _ flags: Flags, version: UInt32, _ alert: AlertAttempt, stamp: UInt32, _ budgetUse: BudgetUse
    ) {
        self.flags.formUnion(flags)
        sending = version
        sendingAlert = alert
        self.stamp = stamp
        self.budgetUse = budgetUse
    }

    /// Notes that the push in flight, which carried this version, was accepted.
    @inline(__always)
    fileprivate mutating func settle(at version: UInt32) {
        flags = []
        failures = FailureStreak()
        delivered = version
        alerted = max(alerted, version)
    }

    /// Is `true` when the card does not show the last state sent to the activity.
    fileprivate var wasRefused: Bool { sendingAlert == .refused }

    /// Is `true` when the activity has had neither another state with this stamp nor a later stamp.
    fileprivate func takes(_ version: UInt32, stamped: UInt32) -> Bool {
        stamp < stamped || stamp == stamped && sending == version
    }

    /// Returns whether an accepted push changes this activity and the other one alike.
    fileprivate func settles(like other: Activity) -> Bool {
        flags == other.flags && audience == other.audience && sending == other.sending
            && sendingAlert == other.sendingAlert && delivered == other.delivered && alerted == other.alerted
    }
}
