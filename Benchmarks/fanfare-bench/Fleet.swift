import Fanfare
import FanfareFanOut
import FanfareModel
import FanfareQueues
import FanfareTestSupport

/// One shard whose activities all follow one topic, and a transport that discards pushes: it reads every token byte and reports every push
/// as accepted in the normal way.
final class Fleet {
    let activities: Int
    /// Bytes of all members' tokens; `tokenSum` is their sum. A sweep must read exactly these.
    private(set) var tokenBytes = 0
    private(set) var tokenSum: UInt64 = 0
    private let shard: Shard
    /// Is `true` if each version has an alert.
    private let alerts: Bool
    private let topic = TopicID("match")
    private var version: UInt32 = 0
    private var batch = DeliveryBatch()
    private var completions: [DeliveryCompletion] = []
    /// Current moment. A second passes with each publication, so that its stamp is due; sweeps are timed by the caller.
    private var moment = Moment(wallMilliseconds: 1_800_000_000_000, monotonicNanoseconds: 1_000_000_000)

    private static let batchMax = 1024

    /// Loads the activities in order: slots, tokens and the audience have the same order.
    ///
    /// - Parameters:
    ///   - alerts: whether each version has an alert.
    ///   - claims: whether alerts wait for claims, which are confirmed at once.
    init(activities: Int, alerts: Bool = false, claims: Bool = false) {
        self.activities = activities
        self.alerts = alerts
        // As every version is sent at priority 10, none is to be held back.
        var limits = ActivityLimits()
        if alerts { limits.immediate = TokenBucket.Size(burst: 240, refill: .seconds(1)) }
        shard = Shard(limits: limits)
        if claims { shard.keepClaims() }
        shard.reserve(activities: activities)
        for number in 0..<activities { follow(UInt64(number)) }
        publish()
        _ = sweep()
    }

    /// Removes a random half in random order and adds as many new members, so that slots, tokens
    /// and the audience no longer have the same order.
    func churnHalf(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let leaving = (0..<UInt64(activities)).shuffled(using: &random).prefix(activities / 2)
        for number in leaving {
            let token = Fleet.token(number)
            tokenBytes -= token.count
            tokenSum &-= token.sum
            shard.apply(.unfollow(ActivityID(number.mixed)), at: moment)
        }
        _ = sweep()  // sends the private ends, which frees the slots
        for number in leaving { follow(number + UInt64(activities)) }
        _ = sweep()  // sends the joiners' first push
    }

    private func follow(_ number: UInt64) {
        let token = Fleet.token(number)
        tokenBytes += token.count
        tokenSum &+= token.sum
        shard.apply(.follow(ActivityID(number.mixed), .topic(topic), token: token), at: moment)
    }

    /// Makes a token: nine of ten have 80 bytes, the others 54, because both lengths have been seen.
    static func token(_ number: UInt64) -> [UInt8] {
        var random = SplitMix64(seed: number)
        let count = random.next() % 10 == 0 ? 54 : 80
        var bytes: [UInt8] = []
        bytes.reserveCapacity(80)
        while bytes.count < count { withUnsafeBytes(of: random.next()) { bytes.append(contentsOf: $0) } }
        return Array(bytes.prefix(count))
    }

    func nextPublication() -> Publication {
        version += 1
        let state = EncodedState(
            ["home": .string("Reds"), "away": .string("Blues"), "minute": .int(Int64(version))])
        return Publication.test(UInt64(version), of: topic, encoded: state, alert: alerts ? alert : nil)
    }

    private var alert: Alert {
        Alert(
            cause: "\(version)", class: .essential, text: AlertText(title: "Goal", body: "\(version) : 0"),
            freshFor: .seconds(120), highlight: nil, grantedAt: moment.wall)
    }

    func publish() { publish(nextPublication()) }

    func publish(_ publication: Publication) {
        moment.wallMilliseconds += 1000
        moment.monotonic += .seconds(1)
        shard.apply(.publish(publication), at: moment)
    }

    /// Pulls and completes until no push is pending.
    /// - Returns: number of pushes, and the sum of their tokens' bytes.
    func sweep() -> (pushes: Int, sum: UInt64) {
        var pushes = 0
        var sum: UInt64 = 0
        while true {
            shard.pull(limit: Fleet.batchMax, at: moment, into: &batch)
            guard !batch.deliveries.isEmpty else {
                guard takeFeedback() else { break }
                continue
            }
            pushes += batch.deliveries.count
            sum &+= batch.tokenSum
            for delivery in batch.deliveries {
                completions.append(
                    DeliveryCompletion(slot: delivery.slot, generation: delivery.generation, outcome: .accepted))
            }
            batch.removeAll()
            shard.complete(completions, at: moment)
            completions.removeAll(keepingCapacity: true)
            takeFeedback()
        }
        return (pushes, sum)
    }

    /// Does the core's part: confirms claims, and ignores all other feedback.
    ///
    /// - Returns: `true` if there were claims.
    @discardableResult private func takeFeedback() -> Bool {
        var ticket: UInt64?
        shard.drainFeedback { if let claimed = $0.ticket { ticket = claimed } }
        guard let ticket else { return false }
        shard.apply(.claimed(ticket), at: moment)
        return true
    }
}

extension [UInt8] {
    fileprivate var sum: UInt64 {
        var sum: UInt64 = 0
        for byte in self { sum &+= UInt64(byte) }
        return sum
    }
}
