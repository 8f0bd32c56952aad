import Testing

@testable import Distance

@Suite struct StallsTests {
    private func options(_ more: [String]) throws -> RelayOptions {
        try RelayOptions(arguments: ["--to", "127.0.0.1:1", "--round-trip", "80"] + more)
    }

    @Test func `A stall comes once in each period, on a connection that exists, and lasts as long as the options say`()
        throws
    {
        var stalls = try #require(Stalls(options(["--stall", "200..400", "--stall-every", "1000"])))
        var drawn: [(at: Int64, connection: Int, length: Int64)] = []
        for tick in 0..<10_000 as Range<Int64> {
            let now = tick * 1_000_000
            if let (connection, until) = stalls.draw(at: now, of: 4) { drawn.append((now, connection, until - now)) }
        }
        #expect(drawn.map(\.at) == (1...9).map { $0 * 1_000_000_000 })
        #expect(drawn.allSatisfy { (200_000_000...400_000_000).contains($0.length) && (0..<4).contains($0.connection) })
        #expect(Set(drawn.map(\.length)).count > 1)
    }

    @Test func `A relay without the option has no stalls`() throws { #expect(Stalls(try options([])) == nil) }

    @Test(arguments: [["--stall", "400..200"], ["--stall", "200"], ["--stall", "0..5"], ["--stall-every", "0"]])
    func `Stalls that make no sense are refused`(_ given: [String]) {
        #expect(throws: UsageError.self) { try options(given) }
    }
}
