import FanfareLoop
import Testing

@testable import FanfareAPNs

@Suite struct AddressDoubtsTests {
    private let address: SocketAddress
    private var doubts = AddressDoubts()

    init() throws { address = try #require(SocketAddress(ip: "192.0.2.1", port: 443)) }

    @Test mutating func itTakesTwoConnectionsOneAfterTheOther() {
        doubts.note(address, openedAt: 0, at: 10)
        doubts.note(address, openedAt: 9, at: 11)
        #expect(!doubts.isInDoubt(address, at: 11), "the line was cut, and both with it")
        doubts.note(address, openedAt: 12, at: 20)
        #expect(doubts.isInDoubt(address, at: 20))
        #expect(doubts.isInDoubt(address, at: 20 + AddressDoubts.duration - 1))
        #expect(!doubts.isInDoubt(address, at: 20 + AddressDoubts.duration))
    }

    @Test mutating func aDoubtEndsWithAConnectionThatIsWell() {
        doubts.note(address, openedAt: 0, at: 10)
        doubts.note(address, openedAt: 12, at: 20)
        doubts.forget(address)
        #expect(!doubts.isInDoubt(address, at: 20))
        doubts.note(address, openedAt: 21, at: 30)
        #expect(!doubts.isInDoubt(address, at: 30), "it begins anew")
    }

    @Test mutating func failuresThatAreLongOverDoNotCount() {
        doubts.note(address, openedAt: 0, at: 10)
        doubts.note(address, openedAt: 12, at: 10 + AddressDoubts.duration)
        #expect(!doubts.isInDoubt(address, at: 10 + AddressDoubts.duration))
    }

    /// A name server may give other addresses each time.
    @Test mutating func addressesThatHaveBeenTakeNoRoom() throws {
        for port in 1...UInt16(AddressDoubts.most) {
            doubts.note(try #require(SocketAddress(ip: "192.0.2.2", port: port)), openedAt: 0, at: 1)
        }
        doubts.note(address, openedAt: 0, at: 1)
        doubts.note(address, openedAt: 2, at: 3)
        #expect(!doubts.isInDoubt(address, at: 3), "there are more than a host has")
        let later = 1 + AddressDoubts.duration
        doubts.note(address, openedAt: later, at: later)
        doubts.note(address, openedAt: later + 1, at: later + 2)
        #expect(doubts.isInDoubt(address, at: later + 2))
    }
}
