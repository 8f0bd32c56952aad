import FanfareLoop
import FanfareModel
import Testing

@testable import FanfareAPNs

@Suite struct AddressDoubtsTests {
    private let address: SocketAddress
    private var doubts = AddressDoubts()

    init() throws { address = try #require(SocketAddress(ip: "192.0.2.1", port: 443)) }

    @Test mutating func anAddressIsDoubtedAfterTwoConnectionsInTurn() {
        doubts.note(address, openedAt: .after(.zero), at: .after(.seconds(10)))
        doubts.note(address, openedAt: .after(.seconds(9)), at: .after(.seconds(11)))
        #expect(!doubts.isInDoubt(address, at: .after(.seconds(11))), "the line was cut, and both with it")
        doubts.note(address, openedAt: .after(.seconds(12)), at: .after(.seconds(20)))
        #expect(doubts.isInDoubt(address, at: .after(.seconds(20))))
        #expect(doubts.isInDoubt(address, at: .after(.seconds(19) + AddressDoubts.duration)))
        #expect(!doubts.isInDoubt(address, at: .after(.seconds(20) + AddressDoubts.duration)))
    }

    @Test mutating func aDoubtEndsWithAConnectionThatIsWell() {
        doubts.note(address, openedAt: .after(.zero), at: .after(.seconds(10)))
        doubts.note(address, openedAt: .after(.seconds(12)), at: .after(.seconds(20)))
        doubts.forget(address)
        #expect(!doubts.isInDoubt(address, at: .after(.seconds(20))))
        doubts.note(address, openedAt: .after(.seconds(21)), at: .after(.seconds(30)))
        #expect(!doubts.isInDoubt(address, at: .after(.seconds(30))), "it begins anew")
    }

    @Test mutating func failuresThatAreLongOverDoNotCount() {
        doubts.note(address, openedAt: .after(.zero), at: .after(.seconds(10)))
        doubts.note(address, openedAt: .after(.seconds(12)), at: .after(.seconds(10) + AddressDoubts.duration))
        #expect(!doubts.isInDoubt(address, at: .after(.seconds(10) + AddressDoubts.duration)))
    }

    /// A name server may give other addresses each time.
    @Test mutating func addressesThatHaveBeenTakeNoRoom() throws {
        for port in 1...UInt16(AddressDoubts.most) {
            doubts.note(
                try #require(SocketAddress(ip: "192.0.2.2", port: port)), openedAt: .after(.zero),
                at: .after(.seconds(1)))
            #expect(doubts.violation() == nil, "port \(port)")
        }
        doubts.note(address, openedAt: .after(.zero), at: .after(.seconds(1)))
        doubts.note(address, openedAt: .after(.seconds(2)), at: .after(.seconds(3)))
        #expect(!doubts.isInDoubt(address, at: .after(.seconds(3))), "there are more than a host has")
        let later = MonotonicTime.after(.seconds(1) + AddressDoubts.duration)
        doubts.note(address, openedAt: later, at: later)
        doubts.note(address, openedAt: later + .seconds(1), at: later + .seconds(2))
        #expect(doubts.isInDoubt(address, at: later + .seconds(2)) && doubts.violation() == nil)
    }
}
