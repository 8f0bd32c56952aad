import FanfareLoop

/// Addresses whose connections open well and then fail whoever relies on them, as behind a tunnel that lets only small packets through: for
/// ten minutes they are tried behind others of their family, and a family of nothing else behind the other one. How addresses race says
/// nothing of that (RFC 8305 §8).
///
/// It takes two connections one after the other: a line that was cut for a moment fails all that there were, and none that opens later.
///
/// All times are monotonic nanoseconds.
struct AddressDoubts {
    static let duration: Int64 = 600 * 1_000_000_000
    /// More than a host has.
    static let most = 64

    private struct Doubt {
        /// Of the first of the two.
        let failedAt: Int64
        var ends: Int64
        var isCertain = false
    }

    private var doubts: [SocketAddress: Doubt] = [:]

    /// A connection to this address had to be replaced, or fell silent with requests in flight.
    mutating func note(_ address: SocketAddress, openedAt: Int64, at now: Int64) {
        doubts = doubts.filter { now < $0.value.ends }
        if let doubt = doubts[address] {
            guard openedAt > doubt.failedAt else { return }
            doubts[address]?.isCertain = true
            doubts[address]?.ends = now + AddressDoubts.duration
        } else if doubts.count < AddressDoubts.most {
            doubts[address] = Doubt(failedAt: now, ends: now + AddressDoubts.duration)
        }
    }

    /// A connection to this address has carried pushes well.
    mutating func forget(_ address: SocketAddress) { doubts[address] = nil }

    func isInDoubt(_ address: SocketAddress, at now: Int64) -> Bool {
        doubts[address].map { $0.isCertain && now < $0.ends } ?? false
    }
}
