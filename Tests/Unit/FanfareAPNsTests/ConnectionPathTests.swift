import FanfareModel
import Testing

@testable import FanfareAPNs

@Suite struct ConnectionPathTests {
    private static func path(_ milliseconds: Int64, width: Int = 1000) -> ConnectionPath {
        ConnectionPath(roundTrip: .milliseconds(milliseconds), width: width, streams: 1000, requestSize: .bytes(430))
    }

    @Test func ofTwoConnectionsTheBetterOneShowsThePath() {
        let (near, far) = (Self.path(5, width: 1000), Self.path(40, width: 200))
        #expect(ConnectionPath.median(of: [near, far]) == near && ConnectionPath.median(of: [far, near]) == near)
        #expect(ConnectionPath.median(of: [far]) == far && ConnectionPath.median(of: []) == nil)
        let three = ConnectionPath.median(of: [
            Self.path(1, width: 30), Self.path(3, width: 10), Self.path(2, width: 20),
        ])
        #expect(three == Self.path(2, width: 20))
    }

    @Test func pathsOfAboutTheSameDistanceAndSizeCompare() {
        let path = Self.path(20)
        #expect(path.isComparable(to: Self.path(24, width: 1), within: 1.25))
        #expect(
            !path.isComparable(to: Self.path(25), within: 1.25) && !Self.path(25).isComparable(to: path, within: 1.25))
        var larger = path
        larger.requestSize = .bytes(860)
        #expect(!path.isComparable(to: larger, within: 1.25))
    }
}
