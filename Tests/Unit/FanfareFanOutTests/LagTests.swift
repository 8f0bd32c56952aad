import FanfareModel
import FanfareQueues
import Testing

@testable import FanfareFanOut

/// Memory is bounded by activities, topics and configured windows, however far an activity is behind.
@Suite struct LagTests {
    private let topic = TopicID("match")
    private let moment = Moment(wallMilliseconds: 1_790_000_000_000, monotonicNanoseconds: 1)

    private func publication(_ serial: UInt64) -> ShardCommand {
        .publish(
            Publication(
                serial: serial, topicID: topic, topicKind: .generic, version: UInt32(serial), event: .update,
                state: EncodedState(["version": .int(Int64(serial))]), priority: .immediate, alert: nil,
                staleAfter: nil, dismissAfter: nil))
    }

    private func heard(from shard: Shard) -> (completed: [UInt64], overtaken: [UInt64]) {
        let ring = OneToOneRing<ShardFeedback>(capacity: 32_768)
        var producer = ring.takeProducer()
        var consumer = ring.takeConsumer()
        _ = shard.sendFeedback(to: &producer)
        var completed: [UInt64] = []
        var overtaken: [UInt64] = []
        while let fact = consumer.pop() {
            switch fact {
            case .completed(let serial, _): completed.append(serial)
            case .overtaken(let serial): overtaken.append(serial)
            default: break
            }
        }
        return (completed, overtaken)
    }

    /// Ten thousand versions are published while the service takes nothing: the oldest publications stay open, each of the others gives way to
    /// the one after it, and when the service is back, each has been reported exactly once.
    @Test func aServiceThatIsAwayCostsNoMemory() throws {
        let versions: UInt64 = 10_000
        let shard = Shard(feedbackMax: 32_768, trackedMax: 8)
        for member in UInt64(0)..<3 { shard.apply(.follow(ActivityID(member), .topic(topic), token: [1]), at: moment) }
        for serial in 1...versions {
            shard.apply(publication(serial), at: moment)
            #expect(shard.reporter.publications.count <= 8)
        }
        #expect(shard.membership.audiences[0].publications.count == 8)
        #expect(shard.violatedInvariant() == nil)

        var batch = DeliveryBatch()
        shard.pull(limit: 10, at: moment, into: &batch)
        #expect(batch.deliveries.count == 3)
        shard.complete(
            batch.deliveries.map { Completion(slot: $0.slot, generation: $0.generation, outcome: .accepted) },
            at: moment)
        let facts = heard(from: shard)
        #expect(facts.completed == Array(1...7) + [versions])
        #expect(facts.overtaken == Array(8..<versions))
        #expect(shard.reporter.publications.isEmpty)
        #expect(shard.violatedInvariant() == nil)
    }

    /// Versions are published while a push of an old one is in flight, and that is answered late: the ledger holds the versions that members
    /// have or that are in flight, and the newest.
    @Test func ledgerHoldsOnlyVersionsOfMembers() {
        var ledger = VersionLedger()
        ledger.add(1, displayHash: 1)
        ledger.join()
        ledger.join()
        ledger.add(2, displayHash: 2)
        ledger.noteSent(1)
        for version in UInt32(3)...10_000 { ledger.add(version, displayHash: UInt64(version)) }
        #expect(ledger.matches(members: [1: 2], inFlight: [2: 1]))
        ledger.advance(1, from: 1, to: 2)
        ledger.conclude(1, 2)
        #expect(ledger.matches(members: [1: 1, 2: 1], inFlight: [:]))
        #expect(ledger.oldest == 1)
        ledger.remove(1)
        #expect(ledger.oldest == 2)
        ledger.remove(2)
        #expect(ledger.oldest == 10_000)
    }

    @Test func ledgerTellsWhetherAVersionHasReachedAnybody() {
        var ledger = VersionLedger()
        ledger.join()
        ledger.add(1, displayHash: 1)
        #expect(ledger.hasReached(0) && !ledger.hasReached(1))
        ledger.noteSent(1)
        ledger.add(2, displayHash: 2)
        #expect(ledger.hasReached(1) && !ledger.hasReached(2), "a push in flight carries it")
        ledger.advance(1, from: 0, to: 1)
        ledger.conclude(1, 1)
        #expect(ledger.hasReached(1) && !ledger.hasReached(2))
    }
}
