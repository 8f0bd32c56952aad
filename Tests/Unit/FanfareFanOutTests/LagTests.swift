import FanfareModel
import FanfareQueues
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

/// Memory is bounded by activities, topics and configured windows, however far an activity is behind.
@Suite struct LagTests {
    /// Ten thousand versions are published while the service takes nothing: the oldest publications stay open, each of the others gives way to
    /// the one after it, and when the service is back, each has been reported exactly once.
    @Test func aServiceThatIsAwayCostsNoMemory() throws {
        let versions: UInt64 = 10_000
        let stage = EmbeddedShard(Shard(feedbackMax: 32_768, trackedMax: 8))
        let shard = stage.shard
        for member in UInt64(0)..<3 { stage.apply(.follow(ActivityID(member), .topic(stage.topic), token: [1])) }
        for serial in 1...versions {
            stage.publish(Publication.test(serial, kind: .generic))
            #expect(shard.reporter.publications.count <= 8)
        }
        #expect(shard.membership.audiences[0].publications.count == 8)
        #expect(shard.violatedInvariant() == nil)

        let pushes = stage.pull(limit: 10)
        #expect(pushes.count == 3)
        stage.answer(pushes)
        var (completed, overtaken): ([UInt64], [UInt64]) = ([], [])
        for fact in stage.feedback() {
            switch fact {
            case .completed(let serial, _): completed.append(serial)
            case .overtaken(let serial): overtaken.append(serial)
            default: break
            }
        }
        #expect(completed == Array(1...7) + [versions])
        #expect(overtaken == Array(8..<versions))
        #expect(shard.reporter.publications.isEmpty)
        #expect(shard.violatedInvariant() == nil)
    }

    /// Versions are published while a push of an old one is in flight, and that is answered late: the counts hold the versions that members
    /// have or that are in flight, and the newest.
    @Test func countsHoldOnlyVersionsOfMembers() {
        var versions = VersionCounts()
        versions.add(1, displayHash: 1)
        versions.join()
        versions.join()
        versions.add(2, displayHash: 2)
        versions.noteSent(1)
        for version in UInt32(3)...10_000 { versions.add(version, displayHash: UInt64(version)) }
        #expect(versions.matches(members: [1: 2], inFlight: [2: 1]))
        versions.advance(1, from: 1, to: 2)
        versions.conclude(1, 2)
        #expect(versions.matches(members: [1: 1, 2: 1], inFlight: [:]))
        #expect(versions.oldest == 1)
        versions.remove(1)
        #expect(versions.oldest == 2)
        versions.remove(2)
        #expect(versions.oldest == 10_000)
    }

    @Test func countsTellWhetherAVersionHasReachedAnybody() {
        var versions = VersionCounts()
        versions.join()
        versions.add(1, displayHash: 1)
        #expect(versions.hasReached(0) && !versions.hasReached(1))
        versions.noteSent(1)
        versions.add(2, displayHash: 2)
        #expect(versions.hasReached(1) && !versions.hasReached(2), "a push in flight carries it")
        versions.advance(1, from: 0, to: 1)
        versions.conclude(1, 1)
        #expect(versions.hasReached(1) && !versions.hasReached(2))
    }
}
