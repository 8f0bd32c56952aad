/// Serials of the keys and JWTs that a pool's connections have used. They count up from 1.
struct TokenSerials {
    /// Serial of the key that the connections belong to; 0 before the first push.
    private(set) var key: UInt64 = 0
    /// Serial of the JWT that was sent last.
    private var sent: UInt64 = 0
    /// Serial of the JWT that APNs accepted last; 0 after a refusal or a change of JWT.
    private(set) var accepted: UInt64 = 0
    /// Serial of the newest JWT.
    private var newest: UInt64 = 0
    /// Serial of the newest JWT of the previous key: a refusal of it, or of an older one, says nothing about the present key.
    private(set) var newestOfFormerKey: UInt64 = 0

    /// Returns `true` if the connections belong to another key.
    func belong(toOtherThan key: UInt64) -> Bool { self.key != 0 && self.key != key }

    /// Notes that a JWT of the key is about to be sent.
    ///
    /// - Returns: `true` if another one was sent before.
    mutating func send(_ token: UInt64, of key: UInt64) -> Bool {
        self.key = key
        guard sent != token else { return false }
        (sent, accepted) = (token, 0)
        return true
    }

    mutating func noteSent(_ token: UInt64) { newest = max(newest, token) }
    mutating func noteAccepted(_ token: UInt64) { accepted = token }
    mutating func noteRefusal() { accepted = 0 }

    mutating func changeKey(to key: UInt64) { (self.key, newestOfFormerKey) = (key, newest) }

    /// Describes a JWT that is newer than the newest, or that no key has signed; `nil` if there is none. For tests.
    func violation() -> String? {
        guard max(accepted, newestOfFormerKey) <= newest else {
            return "\(accepted) accepted, \(newestOfFormerKey) the former key's, \(newest) the newest"
        }
        return key == 0 && max(sent, newest) > 0 ? "a JWT was sent and no key is known" : nil
    }
}
