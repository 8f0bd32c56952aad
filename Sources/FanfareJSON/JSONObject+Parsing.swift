package import FanfareModel

extension JSONObject {
    /// Parses one JSON document that is an object, at most 64 levels deep.
    ///
    /// - Returns: `nil` for anything else.
    package init?(parsing document: [UInt8]) {
        guard let object = try? JSONObject(reading: document) else { return nil }
        self = object
    }

    /// Parses one JSON document that is an object, at most 64 levels deep.
    ///
    /// - Throws: the reason for which the document is not such an object.
    package init(reading document: [UInt8]) throws(JSONFault) {
        let object: JSONObject?
        do throws(JSONParser.Failure) {
            object = try JSONParser().parse(document) { root in root.isObject ? root.object : nil }
        } catch { throw JSONFault(description: "no JSON: \(error.reason)") }
        guard let object else { throw JSONFault(description: "JSON, but no object: it does not begin with {") }
        self = object
    }
}

/// Why a text is no JSON object, in one line for people.
package struct JSONFault: Error, CustomStringConvertible {
    package let description: String
}
