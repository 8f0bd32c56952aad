import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct SubscriberGovernorTests {
    private typealias PushRequest = SubscriberGovernor.PushRequest

    /// Limits with a bucket of so many pushes at priority 10, twice as many with frequent updates.
    private static func limits(burst: Int, refill: Int, overdraft: Int = 0, alerts: Int = 1000) -> ActivityLimits {
        var limits = ActivityLimits()
        limits.immediate = TokenBucket.Size(burst: burst, refill: .seconds(refill))
        limits.immediateFrequent = TokenBucket.Size(burst: burst * 2, refill: .seconds(refill))
        limits.essentialOverdraft = overdraft
        limits.alerts = TokenBucket.Size(burst: alerts, refill: .seconds(10))
        return limits
    }

    /// A bucket that holds seconds, and gains one each second. Only an overdraft takes it below zero.
    private struct Bucket {
        let cost: Int
        let most: Int
        var credit: Int

        init(burst: Int, refill: Int) { (cost, most, credit) = (refill, burst * refill, burst * refill) }

        mutating func pass(seconds: Int) { credit = min(most, credit + seconds) }
        func affords(overdraft: Int = 0) -> Bool { credit + overdraft * cost >= cost }
    }

    /// An activity that is sent pushes, with its use of its limits.
    private struct Phone {
        let governor: SubscriberGovernor
        var effect = Preferences.Effect()
        var budgetUse = BudgetUse()

        mutating func push(_ request: PushRequest, after seconds: UInt32 = 0) -> SubscriberGovernor.PushDecision {
            let decision = governor.decision(on: request, for: budgetUse, effect, after: seconds)
            budgetUse = governor.charged(request, decision, budgetUse, effect, after: seconds)
            return decision
        }

        /// Number of pushes of this kind in a row that go at priority 10 with whatever they alert.
        mutating func countAtTen(_ alert: AlertClass?, isEnd: Bool = false) -> Int {
            var count = 0
            while count < 2000 {
                let decision = push(PushRequest(alert: alert, priority: .immediate, isEnd: isEnd))
                guard decision.priority == .immediate, decision.silence == nil else { break }
                count += 1
            }
            return count
        }
    }

    /// An essential alert may use the overdraft as well.
    @Test(arguments: [false, true]) func ofBudgetsThatAreHalfSpentTheGreaterHalfIsLeft(isFrequent: Bool) {
        let governor = SubscriberGovernor(Self.limits(burst: 5, refill: 100, overdraft: 2, alerts: 3))
        let effect = Preferences.Effect(frequentUpdates: isFrequent)
        let half = governor.halfSpent(Preferences(frequentUpdates: isFrequent))
        let counts = ([nil, .ordinary, .essential] as [AlertClass?]).map { alert in
            var phone = Phone(governor: governor, effect: effect, budgetUse: half)
            return phone.countAtTen(alert)
        }
        let pushes = isFrequent ? 5 : 3
        #expect(counts == [pushes, 2, pushes + 2])
    }

    private static func request(_ random: inout SplitMix64) -> PushRequest {
        PushRequest(
            alert: [nil, .ordinary, .essential].randomElement(using: &random) ?? nil,
            priority: random.chance(0.5) ? .immediate : .conserving, isEnd: random.chance(0.1))
    }

    /// Pushes with and without alerts leave at any distance of each other.
    @Test(arguments: 0..<20 as Range<UInt64>) func pushesAndAlertsAreGrantedAsTwoBucketsOfSecondsAllow(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let (burst, refill, overdraft, alerts) = (4, Int.random(in: 1...60, using: &random), 2, 3)
        var phone = Phone(
            governor: SubscriberGovernor(
                Self.limits(burst: burst, refill: refill, overdraft: overdraft, alerts: alerts)))
        phone.effect.frequentUpdates = seed % 2 == 1
        var immediate = Bucket(burst: seed % 2 == 1 ? burst * 2 : burst, refill: refill)
        var alertBucket = Bucket(burst: alerts, refill: 10)
        for push in 0..<2000 {
            let request = Self.request(&random)
            let seconds = random.chance(0.6) ? 0 : Int.random(in: 0...refill * 2, using: &random)
            // Essential alerts beyond the bucket are no overdraft: it is empty, and refills from then on.
            alertBucket.credit = max(alertBucket.credit, 0)
            immediate.pass(seconds: seconds)
            alertBucket.pass(seconds: seconds)
            var silence: Silence?
            if request.alert == .ordinary, !alertBucket.affords() { silence = .tooMany }
            let mayOverdraw = request.alert == .essential
            if request.alert != nil, silence == nil, !request.isEnd,
                !immediate.affords(overdraft: mayOverdraw ? overdraft : 0)
            {
                silence = .budget
            }
            let alerts = request.alert != nil && silence == nil
            let isAtTen = request.isEnd || alerts || request.priority == .immediate && immediate.affords()
            let decision = phone.push(request, after: UInt32(seconds))
            guard decision == .init(priority: isAtTen ? .immediate : .conserving, silence: silence) else {
                Issue.record("seed \(seed), push \(push): \(decision)")
                return
            }
            if isAtTen, !request.isEnd { immediate.credit -= immediate.cost }
            if alerts { alertBucket.credit -= alertBucket.cost }
        }
    }

    /// A push that was certainly not processed has cost nothing, whatever it was and however much was used.
    @Test(arguments: 0..<20 as Range<UInt64>) func theReturnOfAChargeLeavesWhatThereWasBeforeThePush(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let governor = SubscriberGovernor(Self.limits(burst: 3, refill: 20, overdraft: 2, alerts: 2))
        var phone = Phone(governor: governor)
        for push in 0..<2000 {
            phone.effect.frequentUpdates = random.chance(0.5)
            let request = Self.request(&random)
            let seconds = random.chance(0.6) ? 0 : UInt32.random(in: 0...40, using: &random)
            let decision = governor.decision(on: request, for: phone.budgetUse, phone.effect, after: seconds)
            let charged = governor.charged(request, decision, phone.budgetUse, phone.effect, after: seconds)
            let isSent = request.alert != nil && decision.silence == nil
            let attempt = AlertAttempt(version: isSent ? 1 : 0, silence: decision.silence)
            let isAtTen = decision.priority == .immediate && !request.isEnd
            let returned = governor.returned(isAtTen ? attempt.chargedAtTen : attempt, charged, phone.effect)
            // A push that is not charged lets the same seconds pass.
            let free = PushRequest(alert: nil, priority: .conserving, isEnd: false)
            let uncharged = governor.charged(
                free, .init(priority: .conserving, silence: nil), phone.budgetUse, phone.effect, after: seconds)
            #expect(returned == uncharged, "seed \(seed), push \(push)")
            phone.budgetUse = charged
        }
    }

    /// The figures count pushes in one second.
    @Test func bucketsHoldWhatTheLimitsSay() {
        let governor = SubscriberGovernor(ActivityLimits())
        let frequent = Preferences.Effect(frequentUpdates: true)
        var phones = Array(repeating: Phone(governor: governor), count: 6)
        phones[1].effect = frequent
        var counts = [phones[0].countAtTen(nil), phones[1].countAtTen(nil)]
        counts.append(phones[2].countAtTen(.ordinary))
        counts.append(phones[3].countAtTen(.essential))
        // The overdraft is beyond what others have used, and an end needs none.
        counts.append(phones[0].countAtTen(.essential))
        counts.append(phones[0].countAtTen(nil, isEnd: true))
        #expect(counts == [60, 240, 12, 66, 6, 2000])
    }

    /// A refill and a burst of the greatest size fill two bytes with the overdraft.
    @Test func theGreatestLimitsAreCutToNineHoursAndNeverOverflow() {
        var limits = Self.limits(burst: 1000, refill: 86_400, overdraft: .max, alerts: 1000)
        limits.alerts = limits.immediate
        var phone = Phone(governor: SubscriberGovernor(limits))
        let counts = [phone.countAtTen(.ordinary), phone.countAtTen(.essential)]
        // The bucket has one push of nine hours, and the overdraft another.
        #expect(counts == [1, 1])
        let request = PushRequest(alert: nil, priority: .immediate, isEnd: false)
        let decisions = [64_799, 1, .max].map { phone.push(request, after: $0).priority }
        #expect(decisions == [.conserving, .immediate, .immediate])
    }

    @Test func theReasonForSilenceIsTheFirstOfMaskQuietHoursLimitAndBudget() {
        let governor = SubscriberGovernor(Self.limits(burst: 2, refill: 100, alerts: 1))
        var phone = Phone(governor: governor)
        let ordinary = PushRequest(alert: .ordinary, priority: .immediate, isEnd: false)
        let essential = PushRequest(alert: .essential, priority: .immediate, isEnd: false)
        _ = phone.push(ordinary)
        _ = phone.push(essential)
        let rows: [(AlertMask, AlertMask, PushRequest, Silence)] = [
            (.essential, .none, ordinary, .masked), (.none, .none, essential, .masked),
            (.all, .essential, ordinary, .quietHours), (.essential, .none, essential, .quietHours),
            (.all, .all, ordinary, .tooMany), (.all, .all, essential, .budget),
        ]
        for (mask, quiet, request, silence) in rows {
            let effect = Preferences.Effect(mask: mask, quietMask: quiet)
            let decision = governor.decision(on: request, for: phone.budgetUse, effect, after: 0)
            #expect(decision == .init(priority: .conserving, silence: silence), "\(mask), \(quiet)")
        }
    }

    /// A silent alert leaves the state of the push at the priority that it would have had without it.
    @Test(arguments: [Priority.immediate, .conserving]) func aSilentAlertChangesNoPriority(priority: Priority) {
        let governor = SubscriberGovernor(ActivityLimits())
        let effect = Preferences.Effect(mask: .none)
        for isEnd in [false, true] {
            let decisions = [nil, AlertClass.essential].map {
                governor.decision(
                    on: PushRequest(alert: $0, priority: priority, isEnd: isEnd), for: BudgetUse(), effect, after: 0)
            }
            #expect(decisions.map(\.silence) == [nil, .masked] && decisions[0].priority == decisions[1].priority)
        }
    }
}

@Suite struct AlertAttemptTests {
    private static let versions: [UInt32] = [0, 1, 2, 5, 0xffff, 1 << 28 - 1]

    @Test func anAttemptKeepsVersionSilenceAndCharge() {
        for version in Self.versions {
            for silence in Silence.allCases.map(Optional.some) + [nil] {
                let attempt = AlertAttempt(version: version, silence: silence)
                for (attempt, isAtTen) in [(attempt, false), (attempt.chargedAtTen, true)] {
                    #expect(attempt.version == version && attempt.silence == silence, "\(version)")
                    #expect(attempt.isAtTen == isAtTen, "\(version)")
                    let isSent = version != 0 && silence == nil
                    #expect(attempt.isSent == isSent && attempt.isPaid == isSent, "\(version)")
                    #expect(attempt.isNone == (version == 0 && silence == nil), "\(version)")
                }
            }
        }
    }

    @Test func anAttemptWithoutItsAlertKeepsOnlyWhatItHasCost() {
        for version in Self.versions {
            for silence in Silence.allCases.map(Optional.some) + [nil] {
                let attempt = AlertAttempt(version: version, silence: silence)
                let paid = version != 0 && silence == nil ? AlertAttempt.paid : .none
                #expect(attempt.withoutAlert == paid && attempt.chargedAtTen.withoutAlert == paid.chargedAtTen)
            }
        }
        #expect(AlertAttempt.refused.withoutAlert == .none)
    }

    @Test func attemptsWithoutAVersionDiffer() {
        let attempts = [AlertAttempt.none, .paid, .refused]
        #expect(attempts.map(\.version) == [0, 0, 0] && attempts.map(\.silence) == [nil, nil, nil])
        #expect(attempts.map(\.isPaid) == [false, true, false] && !attempts.contains { $0.isSent })
        #expect(attempts[0] != attempts[1] && attempts[1] != attempts[2] && attempts[0] != attempts[2])
    }
}
