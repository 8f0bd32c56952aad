/// What a sweep does, done to many activities at once: a decision is made for one of them, and carried out on all that follow
/// it and stand as it does. In the sweep of a large audience nearly all do, so what is left per push is a loop over two arrays.
///
/// Each loop has its passes apart because their cache misses then overlap: after churn every activity and every token is one.
extension ActivityStore {
    /// Sends the push to the first of `slots` and to as many after it as stand like `first`.
    ///
    /// - Returns: how many got it.
    mutating func send(
        _ push: Push, to slots: ArraySlice<ActivitySlot>, standing first: Activity.Standing,
        into batch: inout DeliveryBatch
    ) -> Int {
        let start = batch.deliveries.count
        let payload = batch.index(of: push.payload)
        let stamp = UInt32(clamping: push.payload.stamp)
        let flags: Activity.Flags = push.payload.event == .end ? [.inFlight, .ending] : .inFlight
        var tokenStart = Int32(batch.tokens.count)
        var activities = activities.mutableSpan
        for slot in slots {
            let index = Int(slot.rawValue)
            guard activities[index].standing == first else { break }
            let token = activities[index].token
            batch.deliveries.append(
                Delivery(
                    slot: slot, generation: activities[index].generation, payload: payload, tokenStart: tokenStart,
                    tokenCount: Int32(token.count)))
            tokenStart += Int32(token.count)
            activities[index].flags.formUnion(flags)
            activities[index].sending = push.version
            activities[index].sendingAlert = push.alert
            activities[index].stamp = stamp
        }
        let sent = batch.deliveries[start...]
        let known = self.activities
        tokens.copy(sent.lazy.map { known[Int($0.slot.rawValue)].token }, to: &batch.tokens)
        return sent.count
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

    /// Whether an accepted push means the same for the other one.
    fileprivate func settles(like other: Activity) -> Bool {
        flags == other.flags && audience == other.audience && sending == other.sending
            && sendingAlert == other.sendingAlert && delivered == other.delivered && alerted == other.alerted
    }
}
