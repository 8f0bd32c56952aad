/// Reason why credentials cannot be used; the text says what to do.
package struct CredentialsFault: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String
    init(_ description: String) { self.description = description }
}

extension CredentialsFault {
    /// Checks an id. Both ids are spliced into JSON, so no character that needs escaping may pass.
    static func check(_ id: String, is name: String) throws(CredentialsFault) {
        let letters = id.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0)
        }
        guard letters, (1...64).contains(id.utf8.count) else {
            throw CredentialsFault(
                "the \(name) \"\(id.prefix(64))\" should be the letters and digits Apple shows (10 characters)")
        }
    }
}
