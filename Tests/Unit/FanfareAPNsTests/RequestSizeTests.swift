import FanfareFanOut
import FanfareHTTP2
import FanfareModel
import Testing

@testable import FanfareAPNs

@Suite struct RequestSizeTests {
    /// The computed size of a push equals that of the bytes that a session writes once the peer has indexed the constant fields.
    @Test func computedSizeOfAPushIsThatOfItsWrittenRequest() throws {
        let token = try ProviderToken(keyID: "ABC123DEFG", teamID: "TEAM123456") { _ in
            [UInt8](repeating: 0xff, count: 64)
        }
        var fields = RequestFields(endpoint: Endpoint(host: "localhost", port: 443), bundleID: "com.example.app")
        let payload = PayloadEncoderTests.payload(.update)
        let body = try PayloadEncoder.body(of: payload)
        let authorization = fields.authorization(try token.current(at: moment(ProviderTokenTests.start)))
        let form = fields.form(of: payload, body: body, authorization: authorization)
        var session = ClientSession(configuration: ClientSession.Configuration())
        var bytes: [Int] = []
        let device = [UInt8](repeating: 0xab, count: 80)
        for tag in 0..<3 as Range<UInt64> {
            session.take(session.outputCount)
            session.request(
                shape: form.shape, token: device.span, authorization: form.authorization.field, fields: form.fields,
                body: form.body, tag: tag)
            bytes.append(session.outputCount)
        }
        #expect(bytes[1] == bytes[2])
        #expect(bytes[2] - body.count == RequestSize.besideBody.bytes)
    }
}
