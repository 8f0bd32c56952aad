/// Answer to tokens with a given prefix.
package struct AnswerMix: Sendable, Equatable {
    /// Prefix of the tokens, in lower-case hex digits.
    package var prefix: String
    package var answer: Answer
    /// Share of the tokens, 0–1, for an answer about the token (410, `BadDeviceToken`); share of the requests for any other answer.
    package var share: Double

    package init(prefix: String, answer: Answer, share: Double = 1) {
        self.prefix = prefix
        self.answer = answer
        self.share = share
    }

    func covers(_ token: ArraySlice<UInt8>) -> Bool { begins(token, with: prefix) }
}

/// Stream resets for the requests of tokens with a given prefix.
package struct ResetMix: Sendable, Equatable {
    /// Prefix of the tokens, in lower-case hex digits.
    package var prefix: String
    package var code: Code
    /// Share of the requests, 0–1.
    package var share: Double

    package enum Code: String, Sendable {
        /// The request was not examined.
        case refusedStream = "REFUSED_STREAM"
        /// The request was accepted.
        case internalError = "INTERNAL_ERROR"
    }

    package init(prefix: String, code: Code, share: Double = 1) {
        self.prefix = prefix
        self.code = code
        self.share = share
    }

    func covers(_ token: ArraySlice<UInt8>) -> Bool { begins(token, with: prefix) }
}

/// - Parameter prefix: hex digits, lower case.
private func begins(_ token: ArraySlice<UInt8>, with prefix: String) -> Bool {
    let digits = Array(prefix.utf8)
    guard digits.count <= 2 * token.count else { return false }
    for (index, digit) in digits.enumerated() {
        let byte = token[token.startIndex + index / 2]
        let nibble = index % 2 == 0 ? byte >> 4 : byte & 15
        if (nibble < 10 ? 48 + nibble : 87 + nibble) != digit { return false }
    }
    return true
}
