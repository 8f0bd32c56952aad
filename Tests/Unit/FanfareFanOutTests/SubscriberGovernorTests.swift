import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct SubscriberGovernorTests {
    private typealias Wish = SubscriberGovernor.Wish
    private typealias Spent = SubscriberGovernor.Spent

    /// Limits with a bucket of so many pushes at priority 10, twice as many with frequent updates.
    private static func limits(burst: Int, refill: Int, loan: Int = 0, alerts: Int = 1000) -> ActivityLimits {
        var limits = ActivityLimits()
        limits.immediate = TokenBucket.Size(burst: burst, refill: .seconds(refill))
        limits.immediateFrequent = TokenBucket.Size(burst: burst * 2, refill: .seconds(refill))
        limits.essentialLoan = loan
        limits.alerts = TokenBucket.Size(burst: alerts, refill: .seconds(10))
        return limits
    }

    /// A bucket that holds seconds, and gains one each second. Only a loan takes it below zero.
    private struct Bucket {
        let cost: Int
        let most: Int
        var level: Int

        init(burst: Int, refill: Int) { (cost, most, level) = (refill, burst * refill, burst * refill) }

        mutating func pass(seconds: Int) { level = min(most, level + seconds) }
        func affords(loan: Int = 0) -> Bool { level + loan * cost >= cost }
    }

    /// An activity that is sent pushes, with its use of its limits.
    private struct Phone {
        let governor: SubscriberGovernor
        var effect = Preferences.Effect()
        var spent = Spent()

        mutating func push(_ wish: Wish, after seconds: UInt32 = 0) -> SubscriberGovernor.Grant {
            let grant = governor.grant(wish, to: spent, effect, after: seconds)
            spent = governor.charged(wish, grant, spent, effect, after: seconds)
            return grant
        }

        /// Number of pushes of this kind in a row that go at priority 10 with whatever they alert.
        mutating func countAtTen(_ alert: AlertClass?, isEnd: Bool = false) -> Int {
            var count = 0
            while count < 2000 {
                let grant = push(Wish(alert: alert, priority: .immediate, isEnd: isEnd))
                guard grant.priority == .immediate, grant.silence == nil else { break }
                count += 1
            }
            return count
        }
    }

    private static func wish(_ random: inout SplitMix64) -> Wish {
        Wish(
            alert: [nil, .ordinary, .essential].randomElement(using: &random) ?? nil,
            priority: random.chance(0.5) ? .immediate : .conserving, isEnd: random.chance(0.1))
    }

    /// Pushes with and without alerts leave at any distance of each other.
    @Test(arguments: 0..<20 as Range<UInt64>) func pushesAndAlertsAreGrantedAsTwoBucketsOfSecondsAllow(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let (burst, refill, loan, alerts) = (4, Int.random(in: 1...60, using: &random), 2, 3)
        var phone = Phone(
            governor: SubscriberGovernor(Self.limits(burst: burst, refill: refill, loan: loan, alerts: alerts)))
        phone.effect.frequentUpdates = seed % 2 == 1
        var immediate = Bucket(burst: seed % 2 == 1 ? burst * 2 : burst, refill: refill)
        var told = Bucket(burst: alerts, refill: 10)
        for push in 0..<2000 {
            let wish = Self.wish(&random)
            let seconds = random.chance(0.6) ? 0 : Int.random(in: 0...refill * 2, using: &random)
            // Essential alerts beyond the bucket are not lent: it is empty, and refills from then on.
            told.level = max(told.level, 0)
            immediate.pass(seconds: seconds)
            told.pass(seconds: seconds)
            var silence: Silence?
            if wish.alert == .ordinary, !told.affords() { silence = .tooMany }
            let mayBorrow = wish.alert == .essential
            if wish.alert != nil, silence == nil, !wish.isEnd, !immediate.affords(loan: mayBorrow ? loan : 0) {
                silence = .budget
            }
            let alerts = wish.alert != nil && silence == nil
            let isAtTen = wish.isEnd || alerts || wish.priority == .immediate && immediate.affords()
            let grant = phone.push(wish, after: UInt32(seconds))
            guard grant == .init(priority: isAtTen ? .immediate : .conserving, silence: silence) else {
                Issue.record("seed \(seed), push \(push): \(grant)")
                return
            }
            if isAtTen, !wish.isEnd { immediate.level -= immediate.cost }
            if alerts { told.level -= told.cost }
        }
    }

    /// A push that was certainly not processed has cost nothing, whatever it was and however much was spent.
    @Test(arguments: 0..<20 as Range<UInt64>) func theReturnOfAChargeLeavesWhatThereWasBeforeThePush(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let governor = SubscriberGovernor(Self.limits(burst: 3, refill: 20, loan: 2, alerts: 2))
        var phone = Phone(governor: governor)
        for push in 0..<2000 {
            phone.effect.frequentUpdates = random.chance(0.5)
            let wish = Self.wish(&random)
            let seconds = random.chance(0.6) ? 0 : UInt32.random(in: 0...40, using: &random)
            let grant = governor.grant(wish, to: phone.spent, phone.effect, after: seconds)
            let charged = governor.charged(wish, grant, phone.spent, phone.effect, after: seconds)
            let rides = wish.alert != nil && grant.silence == nil
            let attempt = AlertAttempt(version: rides ? 1 : 0, silence: grant.silence)
            let isAtTen = grant.priority == .immediate && !wish.isEnd
            let returned = governor.returned(isAtTen ? attempt.chargedAtTen : attempt, charged, phone.effect)
            // A push that is not charged lets the same seconds pass.
            let free = Wish(alert: nil, priority: .conserving, isEnd: false)
            let uncharged = governor.charged(
                free, .init(priority: .conserving, silence: nil), phone.spent, phone.effect, after: seconds)
            #expect(returned == uncharged, "seed \(seed), push \(push)")
            phone.spent = charged
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
        // The loan is beyond what others have spent, and an end needs none.
        counts.append(phones[0].countAtTen(.essential))
        counts.append(phones[0].countAtTen(nil, isEnd: true))
        #expect(counts == [60, 240, 12, 66, 6, 2000])
    }

    /// A refill and a burst of the greatest size fill two bytes with the loan.
    @Test func theGreatestLimitsAreCutToNineHoursAndNeverOverflow() {
        var limits = Self.limits(burst: 1000, refill: 86_400, loan: .max, alerts: 1000)
        limits.alerts = limits.immediate
        var phone = Phone(governor: SubscriberGovernor(limits))
        let counts = [phone.countAtTen(.ordinary), phone.countAtTen(.essential)]
        // The bucket has one push of nine hours, and the loan another.
        #expect(counts == [1, 1])
        let wish = Wish(alert: nil, priority: .immediate, isEnd: false)
        let grants = [64_799, 1, .max].map { phone.push(wish, after: $0).priority }
        #expect(grants == [.conserving, .immediate, .immediate])
    }

    @Test func theReasonForSilenceIsTheFirstOfMaskQuietHoursLimitAndBudget() {
        let governor = SubscriberGovernor(Self.limits(burst: 2, refill: 100, alerts: 1))
        var phone = Phone(governor: governor)
        let ordinary = Wish(alert: .ordinary, priority: .immediate, isEnd: false)
        let essential = Wish(alert: .essential, priority: .immediate, isEnd: false)
        _ = phone.push(ordinary)
        _ = phone.push(essential)
        let rows: [(AlertMask, AlertMask, Wish, Silence)] = [
            (.essential, .none, ordinary, .masked), (.none, .none, essential, .masked),
            (.all, .essential, ordinary, .quietHours), (.essential, .none, essential, .quietHours),
            (.all, .all, ordinary, .tooMany), (.all, .all, essential, .budget),
        ]
        for (mask, quiet, wish, silence) in rows {
            let effect = Preferences.Effect(mask: mask, quietMask: quiet)
            let grant = governor.grant(wish, to: phone.spent, effect, after: 0)
            #expect(grant == .init(priority: .conserving, silence: silence), "\(mask), \(quiet)")
        }
    }

    /// A silent alert leaves the state of the push at the priority that it would have had without it.
    @Test(arguments: [Priority.immediate, .conserving]) func aSilentAlertChangesNoPriority(priority: Priority) {
        let governor = SubscriberGovernor(ActivityLimits())
        let effect = Preferences.Effect(mask: .none)
        for isEnd in [false, true] {
            let grants = [nil, AlertClass.essential].map {
                governor.grant(
                    Wish(alert: $0, priority: priority, isEnd: isEnd), to: Spent(), effect, after: 0)
            }
            #expect(grants.map(\.silence) == [nil, .masked] && grants[0].priority == grants[1].priority)
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
                    let rides = version != 0 && silence == nil
                    #expect(attempt.rides == rides && attempt.isPaid == rides, "\(version)")
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
        #expect(attempts.map(\.isPaid) == [false, true, false] && !attempts.contains { $0.rides })
        #expect(attempts[0] != attempts[1] && attempts[1] != attempts[2] && attempts[0] != attempts[2])
    }
}
