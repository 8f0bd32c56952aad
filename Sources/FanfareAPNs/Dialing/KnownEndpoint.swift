import FanfareLoop
import FanfareModel

/// Knowledge of a pool's connections about its endpoint, for the next connections. Confined to the pool's thread.
final class KnownEndpoint {
    let context: TLSContext
    /// Addresses of the endpoint's host when a connection to one of them last opened; for times when no name server answers.
    private(set) var goodAddresses: [SocketAddress] = []
    private var doubts = AddressDoubts()
    /// `true` after a server's certificate was not valid at our time: the certificate may be wrong, or the machine's clock.
    private var certificateIsInDoubt = false

    init(_ context: TLSContext) { self.context = context }

    /// Notes that a connection has opened.
    func noteOpened() { certificateIsInDoubt = false }

    func doubtCertificate() { certificateIsInDoubt = true }

    /// Returns the time at which a server's certificate must be valid. A machine that was suspended for days may use a time that
    /// nothing can refute without a connection; so half of the handshakes use the system's clock once a certificate has been refused.
    ///
    /// - Returns: Unix seconds; `nil` for the system's clock.
    func certificateTime(at moment: Moment, using random: inout some RandomNumberGenerator) -> Int64? {
        certificateIsInDoubt && Bool.random(using: &random) ? nil : moment.wallSeconds
    }

    /// Notes the addresses of the host, of which one has proven good.
    func noteGood(_ addresses: [SocketAddress]) { goodAddresses = addresses }

    /// Notes that a connection had to be replaced, or fell silent with requests in flight.
    func doubt(_ opening: ConnectionOpening, at now: MonotonicTime) {
        doubts.note(opening.address, openedAt: opening.at, at: now)
    }

    /// Clears an address after a connection to it has carried pushes well.
    func trust(_ address: SocketAddress) { doubts.forget(address) }

    func isInDoubt(_ address: SocketAddress, at now: MonotonicTime) -> Bool { doubts.isInDoubt(address, at: now) }

    /// Describes a contradiction in the doubts about addresses; `nil` if there is none. For tests.
    func violation() -> String? { doubts.violation() }
}
