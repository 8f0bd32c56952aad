import FanfareModel
import Testing

@testable import FanfareDecisions

@Suite struct AlertGovernorTests {
    private static let card = AlertRule(.ordinary, burst: 2, refill: .seconds(100), freshFor: .seconds(60))
    private static let goal = AlertRule(.essential, burst: 1, refill: .seconds(100), freshFor: .seconds(60))

    private static func rules(ordinary: Int = 3, reserve: Int = 2) -> TopicRules {
        TopicRules(
            alerts: .init(
                ordinary: .init(burst: ordinary, refill: .seconds(100)),
                reserved: .init(burst: reserve, refill: .seconds(100))))
    }

    /// A topic's governor, each of whose alerts has a cause of its own.
    private struct Stage {
        var governor = AlertGovernor()
        var rules = KindRules(AlertGovernorTests.rules(), Rules.Limits())
        var number = 0

        mutating func grants(
            _ kind: OccasionKind, _ rule: AlertRule, at seconds: Double = 0, cause: String? = nil, body: String = ""
        ) -> Bool {
            number += 1
            let decision = governor.decide(
                on: kind, rule, of: rules, text: AlertText(title: "news", body: body), cause: cause ?? "\(number)",
                now: FanfareDecisionsTests.at(seconds))
            if case .granted = decision { return true }
            return false
        }

        func tokens(at seconds: Double = 0) -> [String: Int] {
            let buckets = governor.buckets(at: FanfareDecisionsTests.at(seconds))
            return buckets.reduce(into: [:]) { $0[$1.name] = $1.tokens }
        }
    }

    @Test func ordinaryAlertsDrawOnTheBucketOfTheirKindAndOnOneForAllOfThem() {
        var stage = Stage()
        let granted = ["yellow", "yellow", "yellow", "corner", "corner", "offside"].map {
            stage.grants(OccasionKind($0), Self.card)
        }
        #expect(granted == [true, true, false, true, false, false])
        // A refused alert costs nothing.
        #expect(stage.tokens() == ["yellow": 0, "corner": 1, "offside": 2, "all ordinary": 0])
        let later = [("offside", 99), ("offside", 100), ("corner", 100), ("yellow", 200)].map {
            stage.grants(OccasionKind($0), Self.card, at: $1)
        }
        #expect(later == [false, true, false, true])
    }

    /// Neither a storm of cards nor one of goals silences full time.
    @Test func essentialAlertsDrawOnTheReserveOnceTheirOwnBucketIsEmpty() {
        var stage = Stage()
        for _ in 0..<5 { _ = stage.grants("yellow", Self.card) }
        let goals = (0..<5).map { _ in stage.grants("goal", Self.goal) }
        #expect(goals == [true, true, true, false, false])
        let periods = (0..<2).map { _ in stage.grants("fullTime", Self.goal) }
        #expect(periods == [true, false])
        #expect(stage.tokens() == ["yellow": 0, "goal": 0, "fullTime": 0, "all ordinary": 1, "reserve": 0])
        #expect(stage.tokens(at: 100)["reserve"] == 1)
    }

    @Test func aCauseIsGrantedOnceHoweverFullTheBuckets() {
        var stage = Stage()
        #expect(!stage.governor.hasGranted("g1"))
        let granted = [
            stage.grants("goal", Self.goal, cause: "g1"), stage.grants("goal", Self.goal, at: 500, cause: "g1"),
            stage.grants("yellow", Self.card, at: 500, cause: "g1"),
            stage.grants("goal", Self.goal, at: 500, cause: "g2"),
        ]
        #expect(granted == [true, false, false, true])
        #expect(stage.governor.hasGranted("g1") && stage.governor.hasGranted("g2") && !stage.governor.hasGranted("g3"))
    }

    @Test func aDemotedCauseIsNotGrantedAndMayBeLater() {
        var stage = Stage()
        for _ in 0..<3 { _ = stage.grants("goal", Self.goal) }
        let demoted = stage.grants("goal", Self.goal, cause: "late")
        #expect(!demoted && !stage.governor.hasGranted("late"))
        let granted = stage.grants("goal", Self.goal, at: 100, cause: "late")
        #expect(granted)
    }

    @Test func aTextThatIsTooLongIsDemotedAndCostsNothing() {
        var stage = Stage()
        let bytesMax = Rules.Limits().alertSizeMax.bytes
        let empty = AlertText(title: "news", body: "").size.bytes
        let fits = String(repeating: "x", count: bytesMax - empty)
        let granted = [
            stage.grants("goal", Self.goal, cause: "g", body: fits + "x"), stage.governor.hasGranted("g"),
            stage.governor.buckets(at: at(0)).isEmpty, stage.grants("goal", Self.goal, cause: "g", body: fits),
        ]
        #expect(granted == [false, false, true, true])
    }

    @Test func bucketsThatWereDrawnOnTakeTheSizesOfNewRules() {
        var stage = Stage()
        _ = stage.grants("yellow", Self.card)
        _ = stage.grants("goal", Self.goal)
        _ = stage.grants(.requested, Self.card)
        var rules = Self.rules(ordinary: 9, reserve: 1)
        rules.occasions["yellow"] = OccasionRule(
            essential: false, alert: AlertRule(.ordinary, burst: 7, refill: .seconds(50), freshFor: .seconds(60)))
        rules.alerts.requested = AlertRule(.ordinary, burst: 5, refill: .seconds(50), freshFor: .seconds(60))
        stage.governor.adopt(rules, at: at(0))
        let bursts = stage.governor.buckets(at: at(0)).map(\.burst)
        // By name: the kind without an alert keeps its bucket.
        let names = stage.governor.buckets(at: at(0)).map(\.name)
        #expect(names == ["goal", OccasionKind.requested.rawValue, "yellow", "all ordinary", "reserve"])
        #expect(bursts == [1, 5, 7, 9, 1])
        #expect(
            stage.tokens() == [
                "goal": 0, OccasionKind.requested.rawValue: 1, "yellow": 1, "all ordinary": 1, "reserve": 1,
            ])
    }

    @Test func alertGovernorIsReadAsItWasWritten() throws {
        var stage = Stage()
        for drawn in 0..<4 {
            var writer = SerialWriter()
            stage.governor.write(to: &writer)
            var reader = SerialReader(writer.bytes[...])
            var read = Stage(governor: try AlertGovernor(reading: &reader), rules: stage.rules, number: stage.number)
            #expect(reader.isAtEnd && read.governor.buckets(at: at(30)) == stage.governor.buckets(at: at(30)))
            #expect((0...10).allSatisfy { read.governor.hasGranted("\($0)") == stage.governor.hasGranted("\($0)") })
            let granted = (read.grants("goal", Self.goal), stage.grants("goal", Self.goal))
            #expect(granted.0 == granted.1, "after \(drawn)")
            _ = stage.grants("yellow", Self.card)
        }
    }
}
