import FanfareJSON
public import FanfareModel

extension JSONObject {
    /// Reads one JSON document that is an object, in time proportional to its length. The last value of a repeated key counts.
    ///
    /// - Parameter json: UTF-8, at most 64 objects and arrays inside each other.
    /// - Throws: the document's fault.
    public init(json: [UInt8]) throws(JSONTextFault) {
        do throws(JSONFault) { try self.init(reading: json) } catch {
            throw JSONTextFault(description: error.description)
        }
    }

    /// Reads one JSON document that is an object from a string; at most 64 objects and arrays inside each other.
    ///
    /// - Throws: the document's fault.
    /// - Complexity: O(n), n being the size of the document.
    public init(json: String) throws(JSONTextFault) { try self.init(json: Array(json.utf8)) }

    /// Canonical form of the object: members in the order of their keys, no spaces, shortest numbers.
    ///
    /// - Complexity: O(n), n being the size of the text.
    public var json: String {
        var bytes: [UInt8] = []
        JSONValue.object(self).write(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Reason why a document is not a JSON object.
public struct JSONTextFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// Text of the fault for people, in one line.
    public let description: String
}
