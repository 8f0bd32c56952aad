import FanfareLoop
import Testing

@testable import FanfareAPNs

@Suite struct AddressDoubtsTests {
    private let addresses = (1...3).compactMap { SocketAddress(ip: "192.0.2.\($0)", port: 443) }

    @Test func anAddressInDoubtIsTriedBehindAllOthersForTenMinutes() {
        var doubts = AddressDoubts()
        #expect(doubts.sorted(addresses, at: 0) == addresses)
        doubts.note(addresses[0], at: 0)
        let behind = [addresses[1], addresses[2], addresses[0]]
        #expect(doubts.sorted(addresses, at: 0) == behind)
        #expect(doubts.sorted(addresses, at: AddressDoubts.duration - 1) == behind)
        #expect(doubts.sorted(addresses, at: AddressDoubts.duration) == addresses)
    }

    @Test func whereAllAreInDoubtTheirOrderStays() {
        var doubts = AddressDoubts()
        for address in addresses { doubts.note(address, at: 5) }
        #expect(doubts.sorted(addresses, at: 5) == addresses)
    }

    /// A name server may give other addresses each time.
    @Test func addressesThatHaveBeenTakeNoRoom() throws {
        var doubts = AddressDoubts()
        for number in 0..<1000 {
            doubts.note(try #require(SocketAddress(ip: "192.0.2.1", port: UInt16(number + 1))), at: 0)
        }
        doubts.note(addresses[0], at: 0)
        #expect(doubts.sorted(addresses, at: 0) == addresses, "there are more than a host has")
        doubts.note(addresses[0], at: AddressDoubts.duration)
        #expect(doubts.sorted(addresses, at: AddressDoubts.duration).last == addresses[0])
    }
}
