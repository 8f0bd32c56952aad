import FanfareModel
import Testing

@testable import FanfareAPNs

/// Bodies of goals among those of silent updates.
@Suite struct BodySizeTests {
    @Test func silentUpdatesDoNotHideTheSizeOfAGoal() {
        var size = BodySize()
        for second in Int64(0)..<2700 {
            let isGoal = second == 60
            for _ in 0..<40 { size.note(.bytes(isGoal ? 900 : 250), of: 128, at: .after(.seconds(second))) }
        }
        #expect((850...900).contains(size.usual.bytes), "\(size.usual)")
    }

    @Test func aGoalIsForgottenAfterAnHour() {
        var size = BodySize()
        for second in Int64(0)..<7300 {
            for _ in 0..<40 { size.note(.bytes(second == 60 ? 900 : 250), of: 128, at: .after(.seconds(second))) }
        }
        #expect((250...260).contains(size.usual.bytes), "\(size.usual)")
    }

    @Test func aFewLargeBodiesAreNoUsualSize() {
        var size = BodySize()
        for second in Int64(0)..<100 { size.note(.bytes(250), of: 128, at: .after(.seconds(second))) }
        let before = size.usual
        for _ in 0..<16 { size.note(.bytes(4000), of: 1, at: .after(.seconds(100))) }
        #expect(size.usual < before + .bytes(100), "\(before), then \(size.usual)")
    }

    @Test func bodiesOfOneFollowerCountForTheUsualSize() {
        var size = BodySize()
        for second in Int64(0)..<100 {
            for _ in 0..<1000 { size.note(.bytes(1200), of: 1, at: .after(.seconds(second))) }
        }
        #expect((1190...1200).contains(size.usual.bytes), "\(size.usual)")
    }
}
