/// What a sweep does, done to many activities at once: a decision is made for one of them, and carried out on all that follow
/// it and stand as it does. In the sweep of a large audience nearly all do, so what is left per push is a loop over two arrays.
///
/// After churn every activity and every token is a cache miss. A processor waits for many at once if it sees them soon enough,
/// that is if little is done between one and the next: so what is read first is read in loops of its own.
extension ActivityStore {
    /// Sends the push to the first of `slots` and to as many after it as stand like `first`.
    ///
    /// - Returns: how many got it; at least one, as the payload's stamp is one that the first takes.
    mutating func send(
        _ push: Push, to slots: ArraySlice<ActivitySlot>, standing first: Activity.Standing,
        into batch: inout DeliveryBatch
    ) -> Int {
        let stamp = UInt32(clamping: push.payload.stamp)
        let alike = slots.prefix {
            let activity = self.activities[Int($0.rawValue)]
            return activity.standing == first && activity.takes(push.version, stamped: stamp)
        }
        tokens.fetch(alike, activities)
        let tokens = tokens
        let payload = batch.index(of: push.payload)
        let flags: Activity.Flags = push.payload.event == .end ? [.inFlight, .ending] : .inFlight
        var activities = activities.mutableSpan
        for slot in alike {
            let index = Int(slot.rawValue)
            batch.append(
                slot: slot, generation: activities[index].generation, payload: payload,
                token: activities[index].token, of: tokens)
            activities[index].flags.formUnion(flags)
            activities[index].sending = push.version
            activities[index].sendingAlert = push.alert
            activities[index].stamp = stamp
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
            activities[index].strikes = 0
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
    /// Version of the alert it carries; 0 when silent.
    let alert: UInt32
}

extension Activity {
    /// All that decides, beside the audience and the moment, what an activity is sent.
    struct Standing: Equatable {
        let delivered: UInt32
        let alerted: UInt32
        let flags: Flags
    }

    var standing: Standing { Standing(delivered: delivered, alerted: alerted, flags: flags) }

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
