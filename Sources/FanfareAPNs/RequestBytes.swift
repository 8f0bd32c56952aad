/// What a push takes on a connection beside its body.
package enum RequestBytes {
    /// HEADERS and DATA with their fields: a path of a token with 80 bytes and a JWT of two ids with ten characters each, neither of
    /// which HPACK may remember (spec §2.3), and the date of expiration.
    package static let besideBody = 371
}
