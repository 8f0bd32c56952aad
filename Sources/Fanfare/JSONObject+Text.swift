import FanfareFeeds
public import FanfareModel

extension JSONObject {
    /// Reads one JSON document that is an object, in time proportional to its length. Of a key that stands there twice the last value
    /// counts.
    ///
    /// - Parameter json: UTF-8, at most 64 objects and arrays inside each other.
    /// - Throws: what is wrong with the document.
    public init(json: [UInt8]) throws(JSONTextFault) {
        do throws(JSONFault) { try self.init(reading: json) } catch {
            throw JSONTextFault(description: error.description)
        }
    }

    /// The same of a text.
    public init(json: String) throws(JSONTextFault) { try self.init(json: Array(json.utf8)) }

    /// The object's canonical form: members in the order of their keys, no spaces, shortest numbers.
    public var json: String {
        var bytes: [UInt8] = []
        JSONValue.object(self).write(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Why a document is no JSON object.
public struct JSONTextFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong with the document, in one line for people.
    public let description: String
}
