import FanfareLoop
import ServerTestSupport
import Testing

@Suite struct TCPListenerTests {
    @Test func twoListenersCannotShareAPort() throws {
        let loop = try Loop()
        defer { loop.close() }
        let first = try TCPListener(loop: loop, host: "127.0.0.1", port: 0) { _ in }
        do throws(LoopError) {
            _ = try TCPListener(loop: loop, host: "127.0.0.1", port: first.port) { _ in }
            Issue.record("both listen")
        } catch {
            #expect(error.kind == .addressInUse)
            #expect(error.place == "127.0.0.1:\(first.port)")
        }
    }

    @Test(arguments: ["127.0.0.1", "::1"]) func aListenerNamesThePortThatItGot(host: String) throws {
        let loop = try Loop()
        defer { loop.close() }
        let ports = try (0..<2).map { _ in try TCPListener(loop: loop, host: host, port: 0) { _ in }.port }
        #expect(!ports.contains(0) && ports[0] != ports[1])
    }

    @Test func aClosedListenerDropsItsCallbacks() throws {
        final class Witness {}
        weak var witness: Witness?
        let loop = try Loop()
        defer { loop.close() }
        let listener: TCPListener
        do {
            let captured = Witness()
            witness = captured
            listener = try TCPListener(loop: loop, host: "127.0.0.1", port: 0) { _ in _ = captured }
            listener.onError = { _ in _ = captured }
        }
        #expect(witness != nil)
        listener.close()
        #expect(witness == nil && listener.isClosed)
    }
}
