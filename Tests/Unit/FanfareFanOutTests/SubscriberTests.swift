import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

/// Preferences of subscribers and limits of their activities apply at the moment of each push.
@Suite struct SubscriberTests {
    // 2026-09-21T13:33:20Z, a full minute.
    private static let noon: Int64 = 1_790_000_000 / 60 * 60
    private static func stage(_ limits: ActivityLimits = ActivityLimits()) -> EmbeddedShard {
        EmbeddedShard(Shard(limits: limits), at: Moment(wallMilliseconds: noon * 1000, monotonicNanoseconds: 1))
    }

    @Test func A5_masksSilenceAlertsAndNeverStates() {
        let stage = Self.stage()
        for (id, mask) in zip(UInt64(1)..., AlertMask.allCases) { stage.follow(id, Preferences(alerts: mask)) }
        stage.publish(.ordinary)
        var pushes = stage.pushes()
        #expect(pushes.count == 3 && Set(pushes.values.map(\.state)).count == 1)
        #expect(pushes.filter { $0.value.alert != nil }.keys.sorted() == [1])
        stage.pass(seconds: 1)
        stage.publish(.essential)
        pushes = stage.pushes()
        #expect(pushes.count == 3)
        #expect(pushes.filter { $0.value.alert != nil }.keys.sorted() == [1, 2])
        #expect(stage.alerts.accepted == 3 && stage.alerts.silenced == 3)
    }

    /// Quiet hours from the next minute on, for two minutes, on a clock five and a half hours ahead of UTC.
    @Test func A5_quietHoursLetThroughWhatMayBreakThrough() throws {
        let stage = Self.stage()
        let local = (stage.minute + 330) % 1440
        for (id, breakthrough) in zip(UInt64(1)..., AlertMask.allCases) {
            let hours = try #require(
                Preferences.QuietHours(
                    from: (local + 1) % 1440, until: (local + 3) % 1440, utcOffset: 330, breakthrough: breakthrough))
            stage.follow(id, Preferences(quietHours: hours))
        }
        var alerted: [[UInt64]] = []
        for _ in 0..<4 {
            stage.publish(.ordinary)
            alerted.append(stage.pushes().filter { $0.value.alert != nil }.keys.sorted())
            stage.pass(seconds: 1)
            stage.publish(.essential)
            alerted.append(stage.pushes().filter { $0.value.alert != nil }.keys.sorted())
            stage.pass(seconds: 59)
        }
        #expect(alerted == [[1, 2, 3], [1, 2, 3], [1], [1, 2], [1], [1, 2], [1, 2, 3], [1, 2, 3]])
    }

    @Test func A5_quietHoursGoOverMidnight() throws {
        let hours = try #require(Preferences.QuietHours(from: 23 * 60, until: 60, utcOffset: 0))
        let preferences = Preferences(alerts: .essential, quietHours: hours, frequentUpdates: true)
        #expect(preferences.quietHours == hours && preferences.alerts == .essential && preferences.frequentUpdates)
        for (minute, isQuiet) in [(1379, false), (1380, true), (0, true), (59, true), (60, false)] {
            #expect((preferences.effect(atMinute: minute).quietMask == .essential) == isQuiet, "minute \(minute)")
        }
    }

    @Test func A5_aChangeOfMindHoldsFromTheNextPushOn() {
        let stage = Self.stage()
        stage.follow(1)
        stage.follow(2, Preferences(alerts: .none))
        for (wish, expected) in [(AlertMask.none, [UInt64]()), (.all, [1])] {
            stage.apply(.setPreferences(ActivityID(1), Preferences(alerts: wish)))
            stage.follow(2)  // without preferences the activity keeps its own
            stage.publish(.essential)
            #expect(stage.pushes().filter { $0.value.alert != nil }.keys.sorted() == expected)
            stage.pass(seconds: 1)
        }
        // A new activity in the slot of a removed one has the default preferences.
        stage.apply(.unfollow(ActivityID(2)))
        #expect(stage.pushes()[2]?.event == .end)
        stage.follow(3)
        _ = stage.pushes()
        stage.pass(seconds: 1)
        stage.publish(.ordinary)
        #expect(stage.pushes().filter { $0.value.alert != nil }.keys.sorted() == [1, 3])
    }

    @Test func A2_anActivityHasItsOwnShareOfAlerts() {
        var limits = ActivityLimits()
        limits.alerts = TokenBucket.Size(burst: 2, refill: .seconds(60))
        let stage = Self.stage(limits)
        stage.follow(1)
        var given: [Bool] = []
        for alert in [AlertClass.ordinary, .ordinary, .ordinary, .essential, .ordinary] {
            stage.publish(alert)
            given.append(stage.pushes()[1]?.alert != nil)
            stage.pass(seconds: 1)
        }
        #expect(given == [true, true, false, true, false], "essential alerts are not held back by it")
        #expect(stage.alerts.limited == 2 && stage.alerts.accepted == 3)
        stage.pass(seconds: 54)
        stage.publish(.ordinary)
        #expect(stage.pushes()[1]?.alert == nil)
        // Silent updates in between do not consume the refill.
        for _ in 0..<5 {
            stage.pass(seconds: 1)
            stage.publish(priority: .conserving)
            #expect(stage.pushes()[1] != nil)
        }
        stage.publish(.ordinary)
        #expect(stage.pushes()[1]?.alert != nil)
    }

    /// An alert is retried until the service recovers: its failed pushes count against neither limit.
    @Test(arguments: [DeliveryOutcome.serviceError, .throttled, .notProcessed], [AlertClass.ordinary, .essential])
    func A2_whatWasNotProcessedCostsNothing(outcome: DeliveryOutcome, alertClass: AlertClass) {
        let stage = Self.stage()
        stage.follow(1)
        stage.publish()
        _ = stage.pushes()
        stage.publish(alertClass)
        var tries = 0
        for _ in 0..<480 {
            tries += stage.pushes(outcome).count
            stage.pass(seconds: 1)
        }
        #expect(tries > 9)
        stage.pass(seconds: 100)
        #expect(stage.pushes()[1]?.alert != nil, "after \(tries) tries")
        #expect(stage.alerts.accepted == 1 && stage.alerts.limited == 0)
    }

    /// The budget is three pushes at priority 10 at once, and one a minute; an essential alert borrows the next one.
    @Test func theBudgetIsSpentAndEssentialAlertsBorrow() {
        var limits = ActivityLimits()
        limits.immediate = TokenBucket.Size(burst: 3, refill: .seconds(60))
        limits.essentialOverdraft = 1
        let stage = Self.stage(limits)
        stage.follow(1)
        func push(_ alert: AlertClass? = nil) -> String {
            stage.publish(alert)
            let payload = stage.pushes()[1]
            stage.pass(seconds: 1)
            return "\(payload?.alert == nil ? "silent" : "alert") at \(payload?.priority.rawValue ?? 0)"
        }
        #expect((0..<3).map { _ in push() } == Array(repeating: "silent at 10", count: 3))
        #expect(push() == "silent at 5")
        #expect(push(.ordinary) == "silent at 5")
        #expect(push(.essential) == "alert at 10")
        #expect(push(.essential) == "silent at 5", "the overdraft is bounded")
        #expect(stage.shard.statistics.pushes.downgradedToLowPriority == 3)
        #expect(stage.alerts.limited == 2)
        stage.pass(seconds: 60)
        #expect(push() == "silent at 5", "what was borrowed is paid back first")
        stage.pass(seconds: 60)
        #expect(push() == "silent at 10")
        #expect(push() == "silent at 5")
        stage.publish(.essential, event: .end)
        let end = stage.pushes()[1]
        #expect(end?.event == .end && end?.priority == .immediate && end?.alert != nil, "ends are never blocked")
    }

    @Test func frequentUpdatesHaveTheLargerBudget() {
        var limits = ActivityLimits()
        limits.immediate = TokenBucket.Size(burst: 1, refill: .seconds(60))
        limits.immediateFrequent = TokenBucket.Size(burst: 3, refill: .seconds(20))
        let stage = Self.stage(limits)
        stage.follow(1)
        stage.follow(2, Preferences(frequentUpdates: true))
        var urgent: [Int] = []
        for _ in 0..<4 {
            stage.publish()
            urgent.append(stage.pushes().values.count { $0.priority == .immediate })
            stage.pass(seconds: 1)
        }
        #expect(urgent == [2, 1, 1, 0])
    }

    /// Members with equal content share a payload, although others in between differ.
    @Test func membersInTheSameStateShareAPayload() {
        let stage = Self.stage()
        for id in UInt64(1)...60 {
            stage.follow(id, id % 7 == 0 ? Preferences(alerts: .none) : id % 5 == 0 ? Preferences() : nil)
        }
        stage.publish(.essential)
        let pushes = stage.pushes()
        #expect(pushes.count == 60)
        #expect(Set(pushes.values.map(ObjectIdentifier.init)).count == 2)
        for (id, payload) in pushes { #expect((payload.alert == nil) == (id % 7 == 0), "activity \(id)") }
        #expect(stage.shard.violatedInvariant() == nil)
    }

    /// Extreme limits are bounded, and do not trap.
    @Test(arguments: [(1, Duration.milliseconds(1)), (1000, .seconds(86_400)), (1, .seconds(86_400))])
    func anyLimitsCanBeKept(burst: Int, refill: Duration) {
        var limits = ActivityLimits()
        limits.immediate = TokenBucket.Size(burst: burst, refill: refill)
        limits.alerts = limits.immediate
        for overdraft in [Int.min, 0, .max] {
            limits.essentialOverdraft = overdraft
            let stage = Self.stage(limits)
            stage.follow(1)
            for _ in 0..<50 {
                stage.publish(.essential)
                #expect(stage.pushes()[1] != nil)
                stage.pass(seconds: 1)
            }
        }
    }
}

extension EmbeddedShard {
    fileprivate var minute: Int { Int(moment.wallSeconds / 60 % 1440) }
    fileprivate var alerts: AlertCounts { shard.statistics.alerts }

    fileprivate func follow(_ id: UInt64, _ preferences: Preferences? = nil) {
        apply(.follow(ActivityID(id), .topic(topic), token: [UInt8(id)], preferences: preferences))
    }

    fileprivate func publish(
        _ alert: AlertClass? = nil, priority: Priority = .immediate, event: Publication.Event = .update
    ) {
        let serial = nextSerial()
        let alert = alert.map {
            Alert(
                cause: "\(serial)", class: $0, text: AlertText(title: "\(serial)", body: ""), freshFor: .seconds(600),
                highlight: nil)
        }
        publish(Publication.test(serial, of: topic, kind: .generic, event: event, priority: priority, alert: alert))
    }

    /// Pulls the pushes that are due, answers them with this outcome, and returns their payloads by activity.
    fileprivate func pushes(_ outcome: DeliveryOutcome = .accepted) -> [UInt64: Payload] {
        let pushes = pull()
        answer(pushes, outcome)
        return Dictionary(pushes.map { (UInt64($0.token[0]), $0.payload) }, uniquingKeysWith: { $1 })
    }
}
