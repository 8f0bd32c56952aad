import FanfareLoop

/// Addresses whose connections opened well and then failed whoever relied on them, as behind a tunnel that lets only small packets
/// through: for ten minutes they are tried behind all others. How addresses race says nothing of that (RFC 8305 §8).
///
/// All times are monotonic nanoseconds.
struct AddressDoubts {
    static let duration: Int64 = 600 * 1_000_000_000
    /// More than a host has.
    static let most = 64

    private var ends: [SocketAddress: Int64] = [:]

    /// A connection to this address had to be replaced, or fell silent with requests in flight.
    mutating func note(_ address: SocketAddress, at now: Int64) {
        ends = ends.filter { now < $0.value }
        guard ends.count < AddressDoubts.most || ends[address] != nil else { return }
        ends[address] = now + AddressDoubts.duration
    }

    /// The same addresses in the same order, those in doubt last.
    func sorted(_ addresses: [SocketAddress], at now: Int64) -> [SocketAddress] {
        guard !ends.isEmpty else { return addresses }
        func isInDoubt(_ address: SocketAddress) -> Bool { ends[address].map { now < $0 } ?? false }
        return addresses.filter { !isInDoubt($0) } + addresses.filter(isInDoubt)
    }
}
