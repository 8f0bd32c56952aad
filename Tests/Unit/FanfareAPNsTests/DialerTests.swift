import FanfareLoop
import FanfareModel
import Testing

@testable import FanfareAPNs

@Suite struct DialerTests {
    private func addresses(_ names: [String]) throws -> [SocketAddress] {
        try names.map { try #require(SocketAddress(ip: $0, port: 443)) }
    }

    @Test(arguments: [
        (["2001:db8::1", "192.0.2.1"], [true, false]),
        (["192.0.2.1", "192.0.2.2", "2001:db8::1"], [false, true, false]),
        (["2001:db8::1", "2001:db8::2", "2001:db8::3", "192.0.2.1"], [true, false, true, true]),
        (["192.0.2.1", "192.0.2.2"], [false, false]),
    ])
    func familiesTakeTurnsTheSystemsFavouriteFirst(found: [String], isIPv6: [Bool]) throws {
        var random = SplitMix64(seed: 5)
        for _ in 0..<20 {
            let order = Dialer.order(try addresses(found), using: &random)
            #expect(order.map(\.isIPv6) == isIPv6)
            #expect(Set(order) == Set(try addresses(found)))
        }
    }

    /// APNs has eight addresses and more per family, and spreads load by them.
    @Test func eachAddressOfAFamilyIsTheFirstAboutAsOften() throws {
        let found = try addresses((1...8).map { "192.0.2.\($0)" })
        var random = SplitMix64(seed: 5)
        var firsts: [SocketAddress: Int] = [:]
        for _ in 0..<8000 {
            let order = Dialer.order(found, using: &random)
            firsts[order[0], default: 0] += 1
            // The order is the resolver's, rotated to begin with any address.
            let start = try #require(found.firstIndex(of: order[0]))
            #expect(order == Array(found[start...] + found[..<start]))
        }
        #expect(firsts.count == 8 && firsts.values.allSatisfy { (800...1200).contains($0) }, "\(firsts)")
    }

    @Test(arguments: [
        (["2001:db8::1", "2001:db8::2", "192.0.2.1", "192.0.2.2"], ["192.0.2.1"], [true, false, true, false]),
        (["2001:db8::1", "192.0.2.1"], ["2001:db8::1"], [false, true]),
        (["2001:db8::1", "192.0.2.1"], ["2001:db8::1", "192.0.2.1"], [true, false]),
    ])
    func addressesInDoubtComeLastOfTheirFamily(found: [String], inDoubt: [String], isIPv6: [Bool]) throws {
        var random = SplitMix64(seed: 5)
        let doubted = try addresses(inDoubt)
        for _ in 0..<20 {
            let order = Dialer.order(try addresses(found), using: &random, isInDoubt: { doubted.contains($0) })
            #expect(order.map(\.isIPv6) == isIPv6)
            for isIPv6 in [true, false] {
                let family = order.filter { $0.isIPv6 == isIPv6 }.map { doubted.contains($0) }
                #expect(family == family.sorted { !$0 && $1 })
            }
        }
    }

    @Test func aHostWithoutAddressesIsNotDialled() {
        var random = SplitMix64(seed: 5)
        #expect(Dialer.order([], using: &random).isEmpty)
    }
}
