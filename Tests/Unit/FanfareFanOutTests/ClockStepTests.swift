import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

/// A shard whose wall clock is wrong, and phones whose clocks are right.
@Suite struct ClockStepTests {
    /// Seconds by which the shard's clock is ahead: at first, then for two seconds, and from then on.
    struct Story: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let before: Int64
        let glitch: Int64
        let after: Int64

        init(_ description: String, _ before: Int64, _ glitch: Int64, _ after: Int64) {
            (testDescription, self.before, self.glitch, self.after) = (description, before, glitch, after)
        }
    }

    private static let hour: Int64 = 3600
    private static let stories = [
        Story("put back by an hour", hour, 0, 0),
        Story("put back by three days", 72 * hour, 0, 0),
        Story("put ahead by three days", -72 * hour, 0, 0),
        Story("an hour ahead for two seconds", 0, hour, 0),
        Story("an hour behind for two seconds", 0, -hour, 0),
        Story("three days ahead for two seconds", 0, 72 * hour, 0),
        Story("three days behind for two seconds", 0, -72 * hour, 0),
    ]

    /// A phone that drops what phones drop (spec §3.3): pushes whose stamp is not newer than its state's, lies in the past, or lies more than
    /// eight hours ahead.
    private struct Phone {
        var taken: Int64 = 0
        var state: String?
        var isOver = false
        /// The last push sent, dropped or not.
        var last: (stamp: Int64, state: String)?
    }

    private final class Stage {
        private let embedded: EmbeddedShard
        var shard: Shard { embedded.shard }
        /// Seconds by which the shard's clock is ahead of the phones'.
        var error: Int64 = 0 { didSet { read() } }
        /// The estimate that a shard's thread makes of its clock; `nil` if the shard believes its clock.
        private var estimate: WallEstimate?
        /// Seconds by which a clock was ahead when APNs accepted a JWT made by it.
        var proven: Int64?
        private var believed = Moment(wallMilliseconds: 0, monotonicNanoseconds: 0)
        private static let start: Int64 = 1_790_000_000
        private static let startedAt: Int64 = 1_000_000_000
        private var now = Stage.start
        private var monotonic = Stage.startedAt
        private var serial: UInt64 = 0
        private(set) var phones: [UInt8: Phone] = [:]
        private(set) var starts = 0

        init(_ limits: ActivityLimits = ActivityLimits()) {
            embedded = EmbeddedShard(Shard(lineups: LineupRules(gather: .zero), limits: limits))
        }

        /// Creates a stage that estimates its clock as a shard's thread does.
        convenience init(startingAhead error: Int64) {
            self.init()
            estimate = WallEstimate(wallMilliseconds: (now + error) * 1000, monotonicNanoseconds: monotonic)
            self.error = error
            read()
        }

        /// Grounds on which the shard's thread goes by its clock.
        var trust = WallTrust.assumed

        var moment: Moment {
            var moment =
                estimate == nil
                ? Moment(wallMilliseconds: (now + error) * 1000, monotonicNanoseconds: monotonic) : believed
            moment.trust = trust
            return moment
        }

        /// Time of the phones.
        var truth: Int64 { now }

        private func read() {
            guard estimate != nil else { return }
            believed =
                estimate?.read(
                    wallMilliseconds: (now + error) * 1000, monotonicNanoseconds: monotonic,
                    provenOrigin: proven.map { (Stage.start + $0) * 1_000_000_000 - Stage.startedAt }) ?? believed
        }

        func pass(seconds: Int64) {
            now += seconds
            monotonic += seconds * 1_000_000_000
            read()
        }

        func apply(_ command: ShardCommand) { shard.apply(command, at: moment) }

        func follow(_ id: UInt64, _ key: AudienceKey = .topic(TopicID("match")), startedAgo: Int64? = nil) {
            let startedAt = startedAgo.map { FeedTime(seconds: now - $0) }
            apply(.follow(ActivityID(id), key, token: [UInt8(id)], startedAt: startedAt))
        }

        func start(_ name: String, token: UInt8) {
            apply(
                .start(
                    StartRequest(
                        activity: name, token: [token], attributesType: "Match", attributes: [:],
                        alert: AlertText(title: "Kick-off", body: "")), .topic(TopicID("match"))))
        }

        func publish(_ alert: AlertClass? = .essential, _ event: Publication.Event = .update) {
            serial += 1
            apply(
                .publish(
                    Publication.test(
                        serial, kind: .generic, event: event,
                        alert: alert.map {
                            Alert(
                                cause: "\(serial)", class: $0, text: AlertText(title: "\(serial)", body: ""),
                                freshFor: .seconds(600), highlight: nil)
                        }, staleAfter: .seconds(600), dismissal: event == .end ? .after(.seconds(900)) : nil)))
        }

        /// Sends and accepts all pushes that are due; phones show those that they do not drop.
        @discardableResult
        func settle() -> [Payload] {
            embedded.moment = moment
            let pushes = embedded.settle()
            for push in pushes { arrive(push.payload, at: push.token[0]) }
            #expect(shard.violatedInvariant() == nil)
            return pushes.map(\.payload)
        }

        private func arrive(_ payload: Payload, at token: UInt8) {
            let state = String(decoding: payload.state, as: UTF8.self)
            let wall = moment.stampMilliseconds / 1000
            if payload.event == .start { starts += 1 }
            if let last = phones[token]?.last, last.stamp <= wall + 8 * 3600 {
                #expect(payload.stamp > last.stamp || payload.stamp == last.stamp && state == last.state)
            }
            #expect((wall - 5...wall + 8 * 3600).contains(payload.stamp))
            phones[token, default: Phone()].last = (payload.stamp, state)
            guard payload.stamp > phones[token]?.taken ?? 0, (now - 30...now + 8 * 3600).contains(payload.stamp) else {
                return
            }
            phones[token]?.taken = payload.stamp
            phones[token]?.state = state
            phones[token]?.isOver = payload.event == .end
        }

        func shows(_ token: UInt8) -> Bool { phones[token]?.state?.contains(#""version":\#(serial)"#) == true }
    }

    @Test(arguments: stories) func whenTheClockIsPutRightEverybodyGetsTheNewestStateAtOnce(_ story: Story) {
        let stage = Stage()
        let lineup = AudienceKey.lineup([TopicID("match"), TopicID("other")])
        stage.error = story.before
        stage.follow(1)
        stage.follow(2, lineup)
        stage.follow(3)
        stage.start("card", token: 40)
        stage.publish()
        #expect(stage.settle().count == 4)
        stage.apply(.follow(ActivityID(hashing: "card"), .topic(TopicID("match")), token: [4]))
        stage.settle()
        stage.pass(seconds: 2)

        stage.error = story.glitch
        for _ in 0..<2 {
            stage.publish()
            #expect(stage.settle().count == 4, "nobody waits for the clock")
        }
        stage.follow(5)
        stage.follow(6, lineup)
        stage.start("another card", token: 70)
        #expect(stage.settle().count == 3)
        stage.apply(.follow(ActivityID(hashing: "another card"), .topic(TopicID("match")), token: [7]))
        stage.settle()
        stage.pass(seconds: 2)

        stage.error = story.after
        stage.publish()
        #expect(stage.settle().count == 7)
        for phone: UInt8 in 1...7 { #expect(stage.shows(phone), "phone \(phone)") }
        stage.follow(8)
        stage.start("third card", token: 90)
        stage.apply(.unfollow(ActivityID(3)))
        #expect(stage.settle().count == 3)
        #expect(stage.shows(8) && stage.starts == 3)
        #expect(stage.phones[3]?.isOver == true)
        stage.apply(.move(ActivityID(8), lineup))
        stage.settle()
        stage.pass(seconds: 1)
        stage.publish(nil, .end)
        stage.settle()
        stage.pass(seconds: 3)
        stage.settle()
        for phone: UInt8 in [1, 2, 4, 5, 6, 7, 8] {
            #expect(stage.shows(phone) && stage.phones[phone]?.isOver == !(phone == 2 || phone == 6 || phone == 8))
        }
        #expect(stage.shard.isQuiet)
    }

    /// The clock stays wrong: no phone may drop a goal because of that.
    @Test(arguments: [-40, -3600, -4 * 3600, -7 * 3600, 40, 3600, 4 * 3600, 7 * 3600] as [Int64])
    func aClockThatIsSetWrongAndStaysSoKeepsNothingFromAnybody(by seconds: Int64) {
        let stage = Stage(startingAhead: 0)
        stage.follow(1)
        stage.follow(2, .lineup([TopicID("match"), TopicID("other")]))
        stage.publish()
        stage.settle()
        stage.pass(seconds: 10)
        stage.error = seconds
        for round in 0..<100 {
            stage.publish()
            stage.settle()
            #expect(stage.shows(1) && stage.shows(2), "round \(round)")
            stage.pass(seconds: 97)
        }
    }

    /// The clock steps by so much that phones which go by one time drop stamps made by the other. APNs has accepted a JWT made before the step,
    /// so phones have the earlier time; it may be an hour wrong.
    @Test(arguments: [-720, -26, -9, -8, -7, 8, 9, 26, 720] as [Int64], [0, 3599])
    func aClockThatIsSetFurtherThanPhonesTakeKeepsNothingFromAnybody(by hours: Int64, proven: Int64) {
        let stage = Stage(startingAhead: 0)
        stage.follow(1)
        stage.follow(2, .lineup([TopicID("match"), TopicID("other")]))
        stage.publish()
        stage.settle()
        stage.proven = proven
        stage.pass(seconds: 10)
        stage.error = hours * 3600 + (hours < 0 ? -1 : 1)
        for round in 0..<100 {
            stage.publish()
            for payload in stage.settle() {
                #expect(abs((payload.staleDate ?? 0) - stage.truth - 600) <= 3600, "round \(round)")
            }
            #expect(stage.shows(1) && stage.shows(2), "round \(round)")
            stage.pass(seconds: 97)
        }
    }

    /// An engine was started with a wrong clock: phones drop its pushes, although APNs accepts them. Nothing new is published after the clock
    /// was put right.
    @Test(arguments: [-72 * 3600, -3600, -40, 9 * 3600, 72 * 3600] as [Int64])
    func statesThatPhonesDroppedAreSentAgainWhenTheClockIsPutRight(startingAhead seconds: Int64) {
        let stage = Stage(startingAhead: seconds)
        stage.follow(1)
        stage.follow(2, .lineup([TopicID("match"), TopicID("other")]))
        stage.publish()
        stage.settle()
        stage.pass(seconds: 60)
        stage.publish()
        stage.settle()
        #expect(!stage.shows(1) && !stage.shows(2))
        stage.pass(seconds: 60)
        stage.error = 0
        var payloads: [Payload] = []
        for _ in 0..<10 {
            stage.pass(seconds: 1)
            payloads += stage.settle()
        }
        #expect(stage.shows(1) && stage.shows(2))
        #expect(payloads.count == 2 && payloads.allSatisfy { $0.alert == nil }, "once, and silently")
        #expect(stage.shard.isQuiet)
    }

    @Test func datesFollowTheClockWhereStampsAreAheadOfIt() {
        let stage = Stage()
        stage.error = 3600
        stage.follow(1)
        stage.publish()
        stage.settle()
        stage.error = 0
        stage.publish()
        let update = stage.settle()
        #expect(update.map(\.stamp) == [stage.moment.wallSeconds + 3601])
        #expect(update.map(\.staleDate) == [stage.moment.wallSeconds + 600])
        stage.publish(nil, .end)
        #expect(stage.settle().map(\.dismissalDate) == [stage.moment.wallSeconds + 900])
    }

    @Test func aSweepThatLastsIsDatedAfreshWhereStampsAreAheadOfTheClock() {
        let stage = Stage()
        stage.error = 3600
        stage.follow(1)
        stage.publish()
        stage.settle()
        stage.error = 0
        stage.publish()
        stage.follow(2)
        for token: UInt8 in [1, 2] {
            var batch = DeliveryBatch()
            stage.shard.pull(limit: 1, at: stage.moment, into: &batch)
            let payload = batch.deliveries.first.map { batch.payload(of: $0) }
            #expect(payload?.staleDate == stage.moment.wallSeconds + 600, "phone \(token)")
            stage.pass(seconds: 60)
        }
    }

    /// Devices drop stamps that lie further ahead, so the state waits for the next second, and newer ones coalesce into it.
    @Test func eightHoursAheadOfTheClockAnActivityWaitsForItsNextSecond() {
        let stage = Stage()
        stage.error = 8 * 3600 - 2
        stage.follow(1)
        stage.follow(2)
        stage.publish()
        stage.settle()
        stage.error = 0
        for _ in 0..<2 {
            stage.publish()
            #expect(stage.settle().count == 2)
        }
        for _ in 0..<3 {
            stage.publish()
            #expect(stage.settle().isEmpty)
        }
        stage.apply(.unfollow(ActivityID(2)))
        stage.pass(seconds: 1)
        stage.follow(3)
        #expect(stage.settle().count == 3)
        #expect(stage.shows(1) && stage.shows(3) && stage.phones[2]?.isOver == true)
        #expect(stage.shard.isQuiet)
    }

    @Test func alertsUsedUpStayUsedUpWhenTheClockIsPutBackByDays() {
        var limits = ActivityLimits()
        limits.alerts = TokenBucket.Size(burst: 1, refill: .seconds(3600))
        let stage = Stage(limits)
        stage.error = 72 * 3600
        stage.follow(1)
        stage.publish(.ordinary)
        #expect(stage.settle().map { $0.alert != nil } == [true])
        stage.error = 0
        stage.publish(.ordinary)
        #expect(stage.settle().map { $0.alert != nil } == [false])
        stage.pass(seconds: 3600)
        stage.publish(.ordinary)
        #expect(stage.settle().map { $0.alert != nil } == [true])
    }

    /// The machine's clock is eight hours ahead at its start, until its time service corrects it. The cards began an hour ago; one began nearly
    /// eight hours ago and is ended when APNs has accepted a JWT.
    @Test func L1_cardsAreAsOldAsTheirDatesSayOnceTheClockIsProven() {
        let stage = Stage()
        stage.error = 8 * 3600
        stage.trust = .awaitsProof
        for card in UInt64(1)...3 { stage.follow(card, startedAgo: 3600) }
        stage.follow(4, startedAgo: 8 * 3600 - 900)
        stage.publish()
        stage.settle()
        for _ in 0..<120 {
            stage.pass(seconds: 5)
            stage.settle()
        }
        #expect(stage.shard.statistics.activities == 4)
        stage.error = 0
        stage.trust = .proven
        for _ in 0..<120 {
            stage.pass(seconds: 5)
            stage.settle()
        }
        #expect(stage.shard.statistics.activities == 3)
        #expect(stage.phones[4]?.isOver == true)
        #expect((UInt8(1)...3).allSatisfy { stage.phones[$0]?.isOver == false })
        // The dates were read once: a clock that is set wrongly later changes no age.
        stage.error = 8 * 3600
        for _ in 0..<120 {
            stage.pass(seconds: 5)
            stage.settle()
        }
        #expect(stage.shard.statistics.activities == 3)
        #expect(stage.shard.violatedInvariant() == nil)
    }

    @Test(arguments: [.min, -1, 0, 4_294_967_295_000, 4_294_967_296_000, 1 << 60, .max] as [Int64])
    func noReadingOfTheClockStopsAShard(_ wall: Int64) {
        let stage = EmbeddedShard(at: Moment(wallMilliseconds: 1_790_000_000_000, monotonicNanoseconds: 1))
        stage.apply(.follow(ActivityID(1), .topic(TopicID("match")), token: [1]))
        var stamps: [Int64] = []
        for (version, wall) in zip(UInt64(1)..., [1_790_000_000_000, wall, wall, 1_790_000_001_000]) {
            stage.moment.wallMilliseconds = wall
            stage.publish(
                Publication.test(
                    version, kind: .generic, event: version == 4 ? .end : .update, staleAfter: .seconds(60),
                    dismissal: .after(.seconds(60))))
            for push in stage.pull() {
                stamps.append(push.payload.stamp)
                stage.answer([push])
            }
        }
        #expect(stamps.count == 4 && Set(stamps).count == 4 && stamps.allSatisfy { $0 > 0 })
        #expect(stage.shard.statistics.activities == 0)
    }

    /// A clock is put right with a million lineups: commands and answers do not wait for all of them.
    @Test func manyAudiencesAreShownAgainInParts() throws {
        let stage = EmbeddedShard()
        let shard = stage.shard
        let count = 10_000
        for number in 0..<count {
            let topic = TopicID("order/\(number)")
            stage.apply(
                .follow(
                    ActivityID(hashing: "\(number)"), .topic(topic),
                    token: [1, UInt8(number >> 8), UInt8(number & 255)],
                    preferences: nil))
            stage.publish(
                Publication.test(UInt64(number + 1), of: topic, kind: .delivery, version: 1, state: ["n": 1]))
        }
        let pushes = stage.pull(limit: 2 * count)
        stage.answer(pushes)
        try #require(shard.isQuiet && pushes.count == count)
        _ = shard.takeFeedback()
        stage.moment.stampEpoch += 1
        shard.wakeDue(at: stage.moment)
        #expect((1..<count / 2).contains(shard.membership.counts.owed))
        #expect(!shard.isQuiet && shard.nextDue ?? .never <= stage.moment.monotonic)
        for _ in 0..<3 { shard.wakeDue(at: stage.moment) }
        #expect(shard.membership.counts.owed == count)
        #expect(shard.nextDue ?? .never > stage.moment.monotonic)
    }
}
