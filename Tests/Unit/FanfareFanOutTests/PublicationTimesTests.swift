import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct PublicationTimesTests {
    @Test func waitingBeginsWithTheOldestVersionAndEndsWithTheFirstPush() {
        var times = PublicationTimes()
        times.note(10, freshness: 1, hasMembers: false)
        let nobody = times.takeDueSince()
        times.note(20, freshness: 1, hasMembers: true)
        times.note(30, freshness: 2, hasMembers: true)
        let taken = [times.takeDueSince(), times.takeDueSince()]
        #expect(nobody == nil && taken == [20, nil])
        #expect(times.newest == 30 && times.freshness == 2)
    }
}
