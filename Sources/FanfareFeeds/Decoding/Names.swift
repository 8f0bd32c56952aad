/// Returns one part of a topic's path, percent-encoded except for letters, digits and harmless punctuation of ASCII.
func percentEncoded(_ part: String) -> String {
    let digits = Array("0123456789ABCDEF")
    var encoded = ""
    for byte in part.utf8 {
        let character = Character(UnicodeScalar(byte))
        if character.isASCII, character.isLetter || character.isNumber || "-._~+:@!$&'()*,;=".contains(character) {
            encoded.append(character)
        } else {
            encoded.append("%")
            encoded.append(digits[Int(byte >> 4)])
            encoded.append(digits[Int(byte & 15)])
        }
    }
    return encoded
}

/// Returns the kind of an event from its provider's name: `Others on the ball` → `othersOnTheBall`, `ShotAtGoal` → `shotAtGoal`.
func kind(named name: String) -> String {
    var kind = ""
    for word in name.split(whereSeparator: { !$0.isLetter && !$0.isNumber }) {
        kind += (kind.isEmpty ? word.prefix(1).lowercased() : word.prefix(1).uppercased()) + word.dropFirst()
    }
    return kind.isEmpty ? "event" : kind
}
