import CFanfareNghttp2
import Testing

@testable import FanfareHTTP2

@Suite struct SessionOracleTests {
    static let shape = RequestShape(
        authority: "api.push.apple.com",
        fields: [
            HeaderField("apns-topic", "com.example.app.push-type.liveactivity"),
            HeaderField("apns-push-type", "liveactivity"), HeaderField("apns-priority", "10"),
        ])

    static let jwt: LiteralFields = {
        var fields = LiteralFields()
        fields.append(HeaderField("authorization", "bearer eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJBIn0.c2ln"), secret: true)
        return fields
    }()

    @Test func aPushIsAnswered() {
        var client = ClientSession(configuration: .init())
        let server = NGServer()
        let token: [UInt8] = [0x00, 0x1f, 0xa9, 0xff]
        let accepted = client.request(
            shape: Self.shape, token: token.span, authorization: Self.jwt, body: Array("{}".utf8), tag: 42)
        #expect(accepted)
        server.receive(client.drain())
        client.receive(server.output())
        var batch = EventBatch()
        client.takeEvents(into: &batch)
        let request = server.requests.first
        #expect(request?[":path"] == "/3/device/001fa9ff")
        #expect(request?["apns-priority"] == "10")
        #expect(request?["authorization"]?.hasPrefix("bearer ey") == true)
        #expect(request?.body == Array("{}".utf8))
        #expect(batch.events.first == .settingsChanged)
        guard case .response(let response) = batch.events.last else {
            Issue.record("no response: \(batch.events)")
            return
        }
        #expect(response.status == 200 && response.tag == 42 && response.body.isEmpty)
    }
}
