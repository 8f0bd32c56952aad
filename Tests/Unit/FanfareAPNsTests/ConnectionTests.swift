import FanfareHTTP2
import FanfareLoop
import FanfareModel
import Testing

@testable import FanfareAPNs

/// A pool of one connection, which hears what happens and does nothing.
private final class StagedOwner: ConnectionOwner {
    let configuration = PoolConfiguration(endpoint: .sandbox, bundleID: "com.example.app")
    let loop: Loop
    let knownEndpoint: KnownEndpoint
    let isClosing = false
    let hadRoom = true
    let measuresDistance = true
    let widthAtFirst = 20
    private(set) var events: [String] = []

    init() throws {
        loop = try Loop()
        knownEndpoint = KnownEndpoint(try TLSContext.client())
    }

    func now() -> Moment { moment(ProviderTokenTests.start) }
    func report(_ text: String, at now: MonotonicTime) { events.append(text) }
    func deadlinesChanged() {}
    func turn(at moment: Moment) {}
    func opened(_ connection: Connection) { events.append("opened") }
    func mayHaveRoom(_ connection: Connection) {}
    func drained(_ connection: Connection) {}
    func awaitSigns(at now: MonotonicTime) {}
    func accepted(_ request: SentRequest, at moment: Moment) { events.append("accepted") }
    func refused(_ request: SentRequest, status: Int, body: ErrorBody, on connection: Connection, at moment: Moment) {
        events.append("refused")
    }
    func reset(_ request: SentRequest, _ code: ErrorCode, on connection: Connection, at moment: Moment) {
        events.append("reset")
    }
    func notProcessed(_ request: SentRequest) { events.append("not processed") }
    func lost(_ request: SentRequest) { events.append("lost") }
    func regainedTrust(_ connection: Connection) { events.append("regained trust") }
    func succeeded(_ connection: Connection) { events.append("succeeded") }
    func answeredPing(stays: Bool) { events.append("answered a PING") }
    func exhausted(_ connection: Connection, at moment: Moment) { events.append("exhausted") }
    func receivedGoAway(_ connection: Connection, _ code: ErrorCode, reason: String?, at moment: Moment) {
        events.append("received GOAWAY")
    }
    func allowsNothing(_ connection: Connection, at moment: Moment) { events.append("allows nothing") }
    func fellSilent(_ connection: Connection, at now: MonotonicTime) { events.append("fell silent") }
    func ended(_ connection: Connection, _ ending: ConnectionEnding, lingers: Bool, at moment: Moment) {
        events.append(lingers ? "lingers" : "ended")
    }
}

@Suite struct ConnectionTests {
    private let owner: StagedOwner
    private let commons: ConnectionCommons
    private let connection: Connection

    init() throws {
        owner = try StagedOwner()
        commons = ConnectionCommons(owner.configuration)
        connection = Connection(of: owner, commons, serial: 1)
    }

    @Test func aConnectionThatDrainsBeforeItOpensEndsOnce() {
        defer { owner.loop.close() }
        #expect(connection.isDialing && connection.inFlight == 0)
        connection.drain(at: owner.now())
        connection.abort(at: owner.now())
        #expect(owner.events == ["ended"] && !connection.isDialing && connection.nextDeadline == .never)
        #expect(connection.violation() == nil)
    }

    @Test func aConnectionInDoubtIsNarrowUntilItRegainsTrust() {
        defer { owner.loop.close() }
        #expect(!connection.isWidening)
        for _ in 0..<AnswerRecord.errorsInARowMax { connection.refused(.connection) }
        #expect(connection.isWidening && connection.record.isInDoubt && owner.events.isEmpty)
        for _ in 0..<16 { connection.didSucceed() }
        #expect(owner.events == ["regained trust", "succeeded"] && !connection.record.isInDoubt)
        #expect(connection.violation() == nil)
    }

    @Test func aConnectionThatIsCutOffLimitsTheStreamsOfOtherConnections() {
        defer { owner.loop.close() }
        for _ in 0..<80 { connection.didSucceed() }
        commons.lifespan.cutOff(after: 80)
        let other = Connection(of: owner, commons, serial: 2)
        other.refused(.activity)
        #expect(!other.isWidening && commons.lifespan.streamsMost == 10)
    }
}

@Suite struct ConnectionOpeningTests {
    @Test func aConnectionLastsOnceItHasBeenOpenForAMinute() throws {
        let address = try #require(SocketAddress(ip: "192.0.2.1", port: 443))
        let opening = ConnectionOpening(at: .after(.seconds(100)), address: address)
        #expect(!opening.hasLasted(at: .after(.milliseconds(159_999))) && opening.hasLasted(at: .after(.seconds(160))))
    }
}
