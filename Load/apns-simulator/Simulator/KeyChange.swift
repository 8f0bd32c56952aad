/// A change of the key that signs provider tokens.
package struct KeyChange: Sendable, Equatable {
    /// PEM file with the new key's public half.
    package var file: String
    /// Time or number of requests since the start.
    package var after: Stretch

    package init(file: String, after: Stretch) {
        self.file = file
        self.after = after
    }
}
