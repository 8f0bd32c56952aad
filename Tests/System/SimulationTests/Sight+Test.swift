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
    static func test(of audience: AudienceKey = .topic(TopicID("match"))) -> Phone {
        var random = SplitMix64(seed: 1)
        var phone = Phone(id: ActivityID(UInt64(1)), node: 0, audience: audience, using: &random)
        phone.joined(audience, tenure: 0, at: Moment.test.monotonic)
        return phone
    }
}

extension PushHistory {
    /// Returns the history of a phone that was sent nothing.
    static func test(limits: ActivityLimits = ActivityLimits()) -> PushHistory { PushHistory(Subscriber(), limits) }

    /// Notes that a push has left for a phone that follows a topic.
    mutating func sent(
        _ payload: Payload = .test(), telling told: [AlertText] = [], newest serial: UInt64 = 1,
        at moment: Moment = .test
    ) {
        sent(payload, telling: told, newest: serial, showsLineup: false, at: moment)
    }

    /// Notes an alert of what a phone with an update token shows.
    mutating func noteAlert(of publication: Publication) {
        noteAlert(of: publication, hasToken: true, at: Moment.test.monotonic)
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
        _ payload: Payload = .test(), of phone: Phone = .test(), after history: PushHistory = .test(),
        token: [UInt8]? = nil,
        published: PublishedTopics = PublishedTopics(), late wait: Duration = .zero, isUnseen: Bool = false,
        told: [AlertText]? = nil, succession: Succession = Succession(), faultOfJWT: String? = nil
    ) -> Sight {
        var later = Moment.test
        later.monotonic = later.monotonic + wait
        return Sight(
            payload: payload, token: token ?? phone.tokens.served, phone: phone, history: history, published: published,
            moment: later,
            engine: later, lifetime: .seconds(8 * 3600), isUnseen: isUnseen, faultOfJWT: faultOfJWT, told: told,
            carried: nil, lineupRules: LineupRules(), succession: succession, isAlone: false)
    }
}
