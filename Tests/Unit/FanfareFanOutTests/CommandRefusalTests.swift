import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct CommandRefusalTests {
    @Test func tokenIsRefusedForItsLengthAlone() {
        let sizeMax = Subscription.tokenSizeMax.bytes
        #expect(CommandRefusal(token: []) == .token)
        #expect(CommandRefusal(token: [0]) == nil)
        #expect(CommandRefusal(token: Array(repeating: 7, count: sizeMax)) == nil)
        #expect(CommandRefusal(token: Array(repeating: 7, count: sizeMax + 1)) == .token)
    }
}
