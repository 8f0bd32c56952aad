import FanfareLoop
import FanfareModel
import Testing

@testable import FanfareAPNs

@Suite struct KnownEndpointTests {
    private let known: KnownEndpoint
    private var random = SplitMix64(seed: 1)

    init() throws { known = KnownEndpoint(try TLSContext.client()) }

    /// Returns the times that a hundred handshakes use.
    private mutating func certificateTimes(at now: Moment) -> Set<Int64?> {
        var times: Set<Int64?> = []
        for _ in 0..<100 { times.insert(known.certificateTime(at: now, using: &random)) }
        return times
    }

    @Test mutating func someHandshakesUseTheSystemsClockAfterACertificateWasRefused() {
        let now = moment(ProviderTokenTests.start)
        let before = certificateTimes(at: now)
        known.doubtCertificate()
        let doubted = certificateTimes(at: now)
        known.noteOpened()
        let after = certificateTimes(at: now)
        #expect(before == [now.wallSeconds] && doubted == [now.wallSeconds, nil] && after == before)
    }

    @Test func aConnectionThatIsWellClearsItsAddress() throws {
        let address = try #require(SocketAddress(ip: "192.0.2.1", port: 443))
        known.doubt(ConnectionOpening(at: .after(.zero), address: address), at: .after(.seconds(10)))
        known.doubt(ConnectionOpening(at: .after(.seconds(12)), address: address), at: .after(.seconds(20)))
        #expect(known.isInDoubt(address, at: .after(.seconds(20))))
        known.trust(address)
        #expect(!known.isInDoubt(address, at: .after(.seconds(20))))
        known.noteGood([address])
        #expect(known.goodAddresses == [address] && known.violation() == nil)
    }
}
