import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

@Suite struct NewestVersionTests {
    private static func publication(_ version: UInt32, _ priority: Priority = .immediate) -> Publication {
        Publication.test(UInt64(version), state: ["n": .int(Int64(version))], priority: priority)
    }

    private static func version(_ number: UInt32, _ event: Publication.Event = .update) -> AudienceVersion {
        AudienceVersion(event: event, priority: .immediate, latest: publication(number), displayHash: UInt64(number))
    }

    @Test func versionsAreCountedWhateverTheirPublicationsAre() {
        var newest = NewestVersion(priority: .conserving)
        #expect(newest.number == 0 && newest.publication == nil && newest.priority == .conserving)
        newest.advance(to: Self.version(70))
        #expect(newest.number == 1 && newest.publication?.version == 70 && newest.priority == .immediate)
        newest.advance(to: Self.version(3, .end))
        #expect(newest.number == 2 && newest.publication?.version == 3 && newest.event == .end)
    }

    @Test func aVersionIsSentAgainOnlyIfItCameBeforeItWasShownAgain() {
        var newest = NewestVersion(7, Self.publication(1))
        #expect(newest.shownAgainFrom == 0)
        newest.showAgain()
        #expect(newest.shownAgainFrom == 8)
        newest.advance(to: Self.version(1))
        newest.advance(to: Self.version(2))
        #expect(newest.number == 9 && newest.shownAgainFrom == 8, "later versions that show the same are not sent")
    }

    @Test func anAudienceAtRestHasItsPublicationsPriorityAndANumberOfItsOwn() {
        let rows: [(NewestVersion, UInt32, Priority, UInt32?)] = [
            (NewestVersion(5, Self.publication(1)), 5, .immediate, 1),
            (NewestVersion(5, Self.publication(1, .conserving)), 5, .conserving, 1),
            (NewestVersion(0, nil as Publication?), 0, .conserving, nil),
            (NewestVersion(6, Self.version(2), priority: .conserving), 6, .conserving, 2),
            (NewestVersion(0, nil as AudienceVersion?, priority: .immediate), 0, .immediate, nil),
        ]
        for (newest, number, priority, version) in rows {
            #expect(newest.number == number && newest.priority == priority && newest.publication?.version == version)
            #expect(newest.event == .update)
        }
    }
}
