import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct AbsenteesTests {
    private static let topics = (0..<3).map { TopicID("topic/\($0)") }

    private static func mark(_ number: Int) -> ActivityMark { ActivityMark(rawValue: UInt32(number)) }

    /// Compared with a plain list, in random order.
    @Test(arguments: UInt64(1)...20) func anAbsenteeIsAnExceptionFromTheAudienceNotedLast(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var absentees = Absentees()
        var expected: [ActivityMark: AudienceKey] = [:]
        for _ in 0..<500 {
            let mark = Self.mark(Int.random(in: 0..<40, using: &random))
            let topic = Self.topics.randomElement(using: &random)!
            switch random.next() % 4 {
            case 0:
                absentees.remove(mark)
                expected[mark] = nil
            case 1:
                let lineup = AudienceKey.lineup(Self.topics.filter { $0 != topic }, favourite: nil)
                absentees.note(mark, absentFrom: lineup)
                expected[mark] = lineup
            default:
                absentees.note(mark, absentFrom: .topic(topic))
                expected[mark] = .topic(topic)
            }
            #expect(absentees.count == expected.count && absentees.isEmpty == expected.isEmpty)
            #expect(absentees.violation() == nil)
            for topic in Self.topics {
                let followers = expected.filter { $0.value == .topic(topic) }.map(\.key)
                let members = expected.filter { $0.value != .topic(topic) && $0.value.topics.contains(topic) }.map(
                    \.key)
                #expect(Set(absentees.exceptions(from: topic) ?? []) == Set(followers))
                #expect(Set(absentees.exceptions(from: topic, in: .lineups) ?? []) == Set(members))
            }
        }
    }

    @Test func aTopicWithTooManyIsNotComplete() {
        var absentees = Absentees()
        for number in 0..<TopicCompletion.exceptionsMax {
            absentees.note(Self.mark(number), absentFrom: .topic(Self.topics[0]))
        }
        #expect(absentees.exceptions(from: Self.topics[0])?.count == TopicCompletion.exceptionsMax)
        #expect(absentees.exceptions(from: Self.topics[0], beside: 1) == nil)
        #expect(absentees.exceptions(from: Self.topics[1], beside: 1) == [])
        absentees.note(Self.mark(-1 & 0xFFFF), absentFrom: .topic(Self.topics[0]))
        #expect(absentees.exceptions(from: Self.topics[0]) == nil)
        absentees.remove(Self.mark(0))
        #expect(absentees.exceptions(from: Self.topics[0]) != nil)
    }

    @Test func noTopicIsCompleteOnceThereWereTooManyAbsentees() {
        var absentees = Absentees()
        for number in 0...Absentees.countMax {
            absentees.note(Self.mark(number), absentFrom: .topic(TopicID("topic/\(number)")))
        }
        #expect(absentees.count == Absentees.countMax)
        for number in 0...Absentees.countMax { absentees.remove(Self.mark(number)) }
        #expect(absentees.exceptions(from: Self.topics[0]) == nil && !absentees.isEmpty)
    }
}
