import FanfareLoop
import FanfareModel

/// Addresses whose connections open and then fail under load, for example behind a tunnel that lets only small packets through. The dialer tries them
/// after the other addresses of their family for ten minutes, and a family without any other address after the other family. The race of RFC 8305
/// (§8) does not detect them.
///
/// An address is in doubt after two connections failed, the second opened after the first had failed: a brief line failure
/// ends all open connections, but none that opens later.
struct AddressDoubts {
    static let duration = Duration.seconds(600)
    /// Maximum number of addresses: more than a host has.
    static let most = 64

    private struct Doubt {
        /// Time at which the first connection failed.
        let failedAt: MonotonicTime
        var ends: MonotonicTime
        var isCertain = false
    }

    private var doubts: [SocketAddress: Doubt] = [:]

    /// Records that a connection to this address had to be replaced, or fell silent with requests in flight.
    mutating func note(_ address: SocketAddress, openedAt: MonotonicTime, at now: MonotonicTime) {
        doubts = doubts.filter { now < $0.value.ends }
        if let doubt = doubts[address] {
            guard openedAt > doubt.failedAt else { return }
            doubts[address]?.isCertain = true
            doubts[address]?.ends = now + AddressDoubts.duration
        } else if doubts.count < AddressDoubts.most {
            doubts[address] = Doubt(failedAt: now, ends: now + AddressDoubts.duration)
        }
    }

    /// Clears the address after a connection to it has carried pushes well.
    mutating func forget(_ address: SocketAddress) { doubts[address] = nil }

    func isInDoubt(_ address: SocketAddress, at now: MonotonicTime) -> Bool {
        doubts[address].map { $0.isCertain && now < $0.ends } ?? false
    }

    /// Describes more addresses than a host has, or a doubt that ended before it began; `nil` if there is none. For tests.
    func violation() -> String? {
        guard doubts.count <= AddressDoubts.most else { return "\(doubts.count) addresses" }
        return doubts.values.allSatisfy { $0.failedAt < $0.ends } ? nil : "a doubt ended before it began"
    }
}
