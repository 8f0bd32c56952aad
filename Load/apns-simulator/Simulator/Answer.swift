/// Answer of APNs to a request: one status and, unless accepted, one reason (spec §7).
package enum Answer: UInt8, CaseIterable, Sendable {
    case accepted
    case badCollapseId, badDeviceToken, badExpirationDate, badMessageId, badPriority, badTopic, deviceTokenNotForTopic
    case duplicateHeaders, invalidPushType, missingDeviceToken, missingTopic, payloadEmpty, badRequestPayload
    case expiredProviderToken, invalidProviderToken, missingProviderToken
    case badPath, methodNotAllowed
    case expiredToken, unregistered
    case payloadTooLarge
    case tooManyRequests, tooManyProviderTokenUpdates
    case internalServerError, serviceUnavailable

    package var status: Int {
        switch self {
        case .accepted: 200
        case .badCollapseId, .badDeviceToken, .badExpirationDate, .badMessageId, .badPriority, .badTopic,
            .deviceTokenNotForTopic, .duplicateHeaders, .invalidPushType, .missingDeviceToken, .missingTopic,
            .payloadEmpty, .badRequestPayload:
            400
        case .expiredProviderToken, .invalidProviderToken, .missingProviderToken: 403
        case .badPath: 404
        case .methodNotAllowed: 405
        case .expiredToken, .unregistered: 410
        case .payloadTooLarge: 413
        case .tooManyRequests, .tooManyProviderTokenUpdates: 429
        case .internalServerError: 500
        case .serviceUnavailable: 503
        }
    }

    /// Status as the text of `:status`.
    var statusText: StaticString {
        switch status {
        case 200: "200"
        case 400: "400"
        case 403: "403"
        case 404: "404"
        case 405: "405"
        case 410: "410"
        case 413: "413"
        case 429: "429"
        case 500: "500"
        default: "503"
        }
    }

    /// Reason in APNs' spelling.
    package var reason: String {
        switch self {
        case .accepted: "accepted"
        case .badCollapseId: "BadCollapseId"
        case .badDeviceToken: "BadDeviceToken"
        case .badExpirationDate: "BadExpirationDate"
        case .badMessageId: "BadMessageId"
        case .badPriority: "BadPriority"
        case .badTopic: "BadTopic"
        case .deviceTokenNotForTopic: "DeviceTokenNotForTopic"
        case .duplicateHeaders: "DuplicateHeaders"
        case .invalidPushType: "InvalidPushType"
        case .missingDeviceToken: "MissingDeviceToken"
        case .missingTopic: "MissingTopic"
        case .payloadEmpty: "PayloadEmpty"
        case .badRequestPayload: "BadRequestPayload"
        case .expiredProviderToken: "ExpiredProviderToken"
        case .invalidProviderToken: "InvalidProviderToken"
        case .missingProviderToken: "MissingProviderToken"
        case .badPath: "BadPath"
        case .methodNotAllowed: "MethodNotAllowed"
        case .expiredToken: "ExpiredToken"
        case .unregistered: "Unregistered"
        case .payloadTooLarge: "PayloadTooLarge"
        case .tooManyRequests: "TooManyRequests"
        case .tooManyProviderTokenUpdates: "TooManyProviderTokenUpdates"
        case .internalServerError: "InternalServerError"
        case .serviceUnavailable: "ServiceUnavailable"
        }
    }

    /// Is `true` if the provider token was found good; only such an answer lifts the limit of one stream (spec §10).
    var isAuthenticated: Bool { self == .accepted || status == 410 || status == 429 || status >= 500 }

    /// Returns the JSON of a refusal. `deadSince`, in Unix milliseconds, is part of a 410, the only answer with a time.
    func body(deadSince: Int64) -> [UInt8] {
        switch status {
        case 200: []
        case 410: Array("{\"reason\":\"\(reason)\",\"timestamp\":\(deadSince)}".utf8)
        default: Array("{\"reason\":\"\(reason)\"}".utf8)
        }
    }

    /// Is `true` if the answer says that the token will never work again.
    var isOfDeadToken: Bool {
        switch self {
        case .expiredToken, .unregistered, .badDeviceToken, .deviceTokenNotForTopic: true
        default: false
        }
    }
}
