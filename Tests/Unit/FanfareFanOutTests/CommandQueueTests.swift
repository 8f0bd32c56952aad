import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

@Suite struct CommandQueueTests {
    /// The properties of a publication that matter here, apart from its serial.
    private struct Kind: Hashable {
        var topic = 0
        /// Is `true` if the publication has the core's number of the topic.
        var isNumbered = true
        var priority = Priority.immediate
        var event = Publication.Event.update
        var alerts = false
        var isRepublished = false
        var occasionWeight: Int?
        var isSilentUpdate: Bool { event == .update && !alerts && !isRepublished && occasionWeight == nil }
    }

    private static func publication(_ kind: Kind, _ serial: UInt64) -> Publication {
        let alert = Alert(
            cause: "goal", class: .essential, text: AlertText(title: "Goal", body: ""), freshFor: .seconds(300),
            highlight: nil)
        return Publication.test(
            serial, of: TopicID("match/\(kind.topic)"),
            numbered: kind.isNumbered ? TopicNumber(place: UInt32(kind.topic), birth: UInt64(kind.topic) + 5) : .none,
            event: kind.event, state: ["goals": .int(Int64(serial))], priority: kind.priority,
            alert: kind.alerts ? alert : nil, prominence: Prominence(occasionWeight: kind.occasionWeight),
            isRepublished: kind.isRepublished
        )
    }

    private static func serials(_ queue: inout CommandQueue) -> [UInt64] {
        var taken: [UInt64] = []
        while let command = queue.popFirst() {
            if case .publish(let publication) = command { taken.append(publication.serial) }
        }
        return taken
    }

    /// Returns the serials that come out of a queue after these publications went in, and those that were overtaken.
    private static func pass(_ kinds: [Kind]) -> (taken: [UInt64], overtaken: [UInt64]) {
        var queue = CommandQueue()
        var overtaken: [UInt64] = []
        for (index, kind) in kinds.enumerated() {
            queue.append(.publish(publication(kind, UInt64(index)))) { overtaken.append($0) }
        }
        #expect(queue.count == kinds.count - overtaken.count && queue.violation() == nil)
        return (serials(&queue), overtaken)
    }

    @Test func ofVersionsThatWaitTheNewestIsPublished() {
        let (taken, overtaken) = CommandQueueTests.pass(Array(repeating: Kind(), count: 1000))
        #expect(taken == [999])
        #expect(overtaken == Array(0..<999))
    }

    /// A stalled shard takes no command for hours.
    @Test func droppedVersionsTakeNoRoomWhileNothingIsTaken() {
        var queue = CommandQueue()
        var overtaken = 0
        var serial: UInt64 = 0
        func append(_ kind: Kind) {
            serial += 1
            queue.append(.publish(CommandQueueTests.publication(kind, serial))) { _ in overtaken += 1 }
        }
        for _ in 0..<5 { append(Kind(topic: 9, alerts: true)) }
        #expect(queue.popFirst() != nil)
        for round in 0..<20_000 {
            append(Kind(topic: round % 7))
            if round % 5000 == 0 { append(Kind(topic: 8, alerts: true)) }
        }
        #expect(queue.room < 4096, "\(queue.room)")
        #expect(overtaken == 20_000 - 7 && queue.count == 7 + 4 + 4 && queue.violation() == nil)
        append(Kind(topic: 3))
        let taken = CommandQueueTests.serials(&queue)
        #expect(taken == taken.sorted() && taken.count == 15 && taken.last == serial)
        #expect(queue.isEmpty)
    }

    /// People join all the time, and each entry tells the shard which joiners it was sent.
    @Test func timesOfJoinersTakeNoRoomInAQueueThatNobodyReads() {
        var queue = CommandQueue()
        func append(_ second: Int64, _ kind: Kind) {
            let before = FeedTime(milliseconds: second * 1000)
            queue.append(.followed(before: before, sent: before)) { _ in }
            queue.append(.publish(CommandQueueTests.publication(kind, UInt64(second)))) { _ in }
        }
        for second in 1...20_000 { append(Int64(second), Kind(topic: second % 7, alerts: second % 5000 == 0)) }
        #expect(queue.room < 4096 && queue.violation() == nil, "\(queue.room)")
        // Those that are taken make room for others.
        for second in 20_001...40_000 {
            append(Int64(second), Kind(topic: second % 7, alerts: second % 2 == 0))
            while queue.count > 20 { _ = queue.popFirst() }
        }
        #expect(queue.room < 4096 && queue.violation() == nil, "\(queue.room)")
        var told: Int64 = 0
        var versions = 0
        while let command = queue.popFirst() {
            switch command {
            case .followed(let before, _): told = before.milliseconds / 1000
            case .publish(let publication):
                versions += 1
                #expect(told == publication.serial, "the version's joiners are told of before it, and no later ones")
            default: Issue.record("\(command)")
            }
        }
        #expect(versions > 7 && told == 40_000)
    }

    @Test func topicsDoNotOvertakeEachOther() {
        let kinds = (0..<1000).map { Kind(topic: $0 % 10) }
        #expect(CommandQueueTests.pass(kinds).taken == Array(990..<1000))
    }

    @Test func anAlertAnEndARepeatAndWhatHasTheSpotlightAreNotLeftOut() {
        for kind in [Kind(alerts: true), Kind(event: .end), Kind(isRepublished: true), Kind(occasionWeight: 70)] {
            #expect(CommandQueueTests.pass([Kind(), kind, Kind(), Kind()]).taken == [1, 3], "\(kind)")
        }
    }

    /// A version that may wait for minutes must not take the place of one that may not.
    @Test func aConservingVersionOvertakesNoUrgentOne() {
        let kinds = (0..<100).map { Kind(priority: $0.isMultiple(of: 2) ? .immediate : .conserving) }
        #expect(CommandQueueTests.pass(kinds).taken == [98, 99])
        #expect(CommandQueueTests.pass([Kind(), Kind(priority: .conserving, event: .end)]).taken == [1])
    }

    /// The question is answered when each activity has the versions published before it.
    @Test func aQuestionIsAskedAfterWhatWasPublishedBefore() {
        var queue = CommandQueue()
        queue.append(.publish(CommandQueueTests.publication(Kind(), 1))) { _ in }
        queue.append(.reportQuiet(1)) { _ in }
        queue.append(.publish(CommandQueueTests.publication(Kind(), 2))) { _ in }
        #expect(CommandQueueTests.serials(&queue) == [1, 2])
    }

    /// The question keeps its place also when the gaps of dropped versions have been removed.
    @Test func aQuestionStaysWhereItIsAmongWhatIsTightened() {
        var queue = CommandQueue()
        queue.append(.publish(CommandQueueTests.publication(Kind(topic: 1), 1))) { _ in }
        queue.append(.reportQuiet(1)) { _ in }
        for serial in UInt64(2)...5000 {
            queue.append(.publish(CommandQueueTests.publication(Kind(topic: 2), serial))) { _ in }
        }
        queue.append(.publish(CommandQueueTests.publication(Kind(topic: 1), 5001))) { _ in }
        #expect(queue.violation() == nil)
        #expect(CommandQueueTests.serials(&queue) == [1, 5000, 5001])
    }

    /// Commands go in and out in random order: none is lost, repeated or reordered, and each dropped version was dropped for a newer one that
    /// waits.
    @Test(arguments: UInt64(1)...50) func nothingIsLostButWhatIsOvertaken(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var queue = CommandQueue()
        var waiting: [(serial: UInt64, kind: Kind?)] = []
        var serial: UInt64 = 0
        for step in 0..<5000 {
            if step.isMultiple(of: 50) { #expect(queue.violation() == nil, "seed \(seed), step \(step)") }
            if random.next() % 5 < 2 {
                var next: UInt64?
                switch queue.popFirst() {
                case .publish(let publication)?: next = publication.serial
                case .unfollow(let id)?: next = id.rawValue
                case nil: next = nil
                default: Issue.record("what never went in")
                }
                #expect(next == waiting.first?.serial, "seed \(seed)")
                if next != nil { waiting.removeFirst() }
                continue
            }
            serial += 1
            guard random.next() % 4 > 0 else {
                queue.append(.unfollow(ActivityID(serial))) { _ in Issue.record("nothing is overtaken by it") }
                waiting.append((serial, nil))
                continue
            }
            let topic = Int(random.next() % 3)
            let kind = Kind(
                topic: topic, isNumbered: topic > 0 || seed % 2 == 0,
                priority: random.next() % 2 == 0 ? .immediate : .conserving,
                event: random.next() % 10 == 0 ? .end : .update, alerts: random.next() % 10 == 0,
                isRepublished: random.next() % 20 == 0, occasionWeight: random.next() % 20 == 0 ? 50 : nil)
            queue.append(.publish(CommandQueueTests.publication(kind, serial))) { overtaken in
                guard let index = waiting.firstIndex(where: { $0.serial == overtaken }), let left = waiting[index].kind
                else {
                    Issue.record("seed \(seed): \(overtaken) did not wait")
                    return
                }
                #expect(left.isSilentUpdate && left.topic == kind.topic, "seed \(seed)")
                #expect(kind.event == .end || left.priority <= kind.priority, "seed \(seed)")
                waiting.remove(at: index)
            }
            waiting.append((serial, kind))
            #expect(queue.count == waiting.count, "seed \(seed)")
            let silent = waiting.compactMap(\.kind).count(where: \.isSilentUpdate)
            #expect(silent <= 6, "seed \(seed): two of each topic")
        }
    }
}
