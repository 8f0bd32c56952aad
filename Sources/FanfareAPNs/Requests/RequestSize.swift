package import FanfareModel

/// Size of a push on a connection, apart from its body.
package enum RequestSize {
    /// Size of HEADERS and DATA with their fields: a path with an 80-byte token and a JWT with two ids of ten characters
    /// each, neither of which HPACK may index (spec §2.3), and the expiration date.
    package static let besideBody = ByteCount.bytes(371)
}
