package import FanfareLoop

extension ProviderToken {
    /// Creates a provider token from the `.p8` file that Apple issued for the key. Another key in the file, or behind its link, signs
    /// within seconds. The old key stays in use, and `Issue.complaint` gives the reason, if the new one is unusable or APNs refuses it.
    ///
    /// - Parameter keyID: the id that Apple shows beside the key. `nil` takes it from the file's name, which rotates with
    ///   the key; under a fixed id no other key replaces one that APNs accepts.
    /// - Throws: `CredentialsFault` or `LoopError`, with the file's name and the remedy.
    package convenience init(keyFile path: String, keyID: String?, teamID: String) throws {
        try self.init(keyFile: path, keyID: keyID, teamID: teamID) { (look) throws(LoopError) in
            try DetachedThread.run(name: "key file", look)
        }
    }

    convenience init(
        keyFile path: String, keyID: String?, teamID: String, runLook: @escaping LookRunner
    ) throws {
        var file = KeyFile(path: path, keyID: keyID)
        guard let key = try file.readIfChanged() else { preconditionFailure("a file not yet read has changed") }
        try self.init(key, teamID: teamID, watching: file, runLook: runLook)
    }

    package convenience init(key: ES256PrivateKey, keyID: String, teamID: String) throws(CredentialsFault) {
        try self.init(keyID: keyID, teamID: teamID) { try key.sign($0) }
    }
}
