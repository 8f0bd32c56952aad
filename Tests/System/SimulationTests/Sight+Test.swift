import FanfareFanOut
import FanfareModel

@testable import Simulation

extension Moment {
    static let test = Moment(wallMilliseconds: 1_800_000_000_000, monotonicNanoseconds: 1_000_000_000)
}

extension Alert {
    static let test = Alert(
        cause: "goal", class: .essential, text: AlertText(title: "Goal", body: ""), freshFor: .seconds(60),
        highlight: nil)
}

extension Phone {
    /// Returns a phone that the shard knows to follow the audience.
    static func test(
        of audience: AudienceKey = .topic(TopicID("match")), limits: ActivityLimits = ActivityLimits()
    ) -> Phone {
        var random = SplitMix64(seed: 1)
        var phone = Phone(
            id: ActivityID(UInt64(1)), node: 0, audience: audience, subscriber: Subscriber(), limits: limits,
            using: &random)
        phone.joined(audience, tenure: 0, isWaited: false, at: Moment.test.monotonic)
        return phone
    }
}

extension Payload {
    static func test(
        _ event: Payload.Event = .update, state: [UInt8] = [1], stamp: Int64 = Moment.test.wallSeconds,
        alert: AlertText? = nil, priority: Priority = .conserving, start: Payload.Start? = nil
    ) -> Payload {
        Payload(
            event: event, logLabel: "", state: state, stamp: stamp, staleDate: nil, dismissalDate: nil, alert: alert,
            priority: priority, start: start)
    }
}

extension Sight {
    static func test(
        _ payload: Payload = .test(), of phone: Phone = .test(), token: [UInt8]? = nil,
        published: PublishedTopics = PublishedTopics(), after wait: Duration = .zero, isUnseen: Bool = false,
        told: [AlertText]? = nil, succession: Succession = Succession(), faultOfJWT: String? = nil
    ) -> Sight {
        var later = Moment.test
        later.monotonic = later.monotonic + wait
        return Sight(
            payload: payload, token: token ?? phone.tokens.served, phone: phone, published: published, moment: later,
            engine: later, lifetime: .seconds(8 * 3600), isUnseen: isUnseen, faultOfJWT: faultOfJWT, told: told,
            carried: nil, lineupRules: LineupRules(), succession: succession, isAlone: false)
    }
}
