package import FanfareModel

extension JSONObject {
    /// Parses one JSON document that is an object, at most 64 levels deep.
    ///
    /// - Returns: `nil` for anything else.
    package init?(parsing document: [UInt8]) {
        let object = try? JSONParser().parse(document) { root in root.isObject ? root.object : nil }
        guard let object = object ?? nil else { return nil }
        self = object
    }
}
