import CFanfareTOML
import FanfareModel

/// A value of a TOML document, with its location.
package struct TOMLValue {
    package enum Content {
        case string(String)
        case integer(Int64)
        case number(Double)
        case boolean(Bool)
        case date
        case array([TOMLValue])
        /// A table, whose members are in the order of the file.
        case table([Member])
    }

    package struct Member {
        package let key: String
        package let keyLocation: TOMLLocation
        package let value: TOMLValue
    }

    package let content: Content
    package let location: TOMLLocation

    /// Name of the value in messages.
    package var name: String {
        switch content {
        case .string(let text): "\"\(text.prefix(40))\""
        case .integer(let value): "\(value)"
        case .number(let value): "\(value)"
        case .boolean(let value): "\(value)"
        case .date: "a date"
        case .array: "an array"
        case .table: "a table"
        }
    }
}

extension TOMLValue {
    /// - Parameter name: name of the document in messages.
    /// - Throws: the first fault of bytes that are not TOML, are too many, or are nested too deep.
    package static func document(_ bytes: [UInt8], name: String) throws(TOMLError) -> TOMLValue {
        if let fault = fault(of: bytes) { throw TOMLError(name: name, faults: [fault]) }
        let document = unsafe bytes.withUnsafeBytes { bytes in
            unsafe fanfare_toml_parse(bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
        }
        guard let document = unsafe document else {
            throw TOMLError(name: name, faults: [.init(.start, "there is no memory to read it")])
        }
        defer { unsafe fanfare_toml_release(document) }
        var location = fanfare_toml_place()
        if let fault = unsafe fanfare_toml_fault(document, &location) {
            throw TOMLError(
                name: name, faults: [.init(TOMLLocation(location), unsafe "no TOML: \(String(cString: fault))")])
        }
        var count = 0
        let nodes = unsafe UnsafeBufferPointer(start: fanfare_toml_nodes(document, &count), count: count)
        var position = 0
        return unsafe TOMLValue(nodes, &position)
    }

    /// Maximum size of a document.
    static let sizeMax = ByteCount.mebibytes(1)

    /// Returns the fault for which a document is not to be parsed.
    private static func fault(of bytes: [UInt8]) -> TOMLError.Fault? {
        guard bytes.count <= sizeMax.bytes else {
            return TOMLError.Fault(.start, "more than \(sizeMax), which are the most that a document may have")
        }
        var scan = TOMLScan(bytes)
        return scan.fault()
    }

    /// Takes the node at `position` with everything in it.
    private init(_ nodes: UnsafeBufferPointer<fanfare_toml_node>, _ position: inout Int) {
        let node = unsafe nodes[position]
        position += 1
        location = unsafe TOMLLocation(node.place)
        switch unsafe node.kind {
        case FANFARE_TOML_TABLE:
            var members: [Member] = []
            for _ in unsafe 0..<node.children {
                let (key, keyLocation) = unsafe (String(nodes[position].key), TOMLLocation(nodes[position].key_place))
                unsafe members.append(Member(key: key, keyLocation: keyLocation, value: TOMLValue(nodes, &position)))
            }
            members.sort { $0.keyLocation < $1.keyLocation }
            content = .table(members)
        case FANFARE_TOML_ARRAY:
            content = unsafe .array((0..<node.children).map { _ in unsafe TOMLValue(nodes, &position) })
        case FANFARE_TOML_STRING: content = unsafe .string(String(node.text))
        case FANFARE_TOML_INTEGER: content = unsafe .integer(node.integer)
        case FANFARE_TOML_NUMBER: content = unsafe .number(node.number)
        case FANFARE_TOML_BOOLEAN: content = unsafe .boolean(node.integer != 0)
        default: content = .date
        }
    }
}

extension String {
    fileprivate init(_ text: fanfare_toml_text) {
        self = unsafe UnsafeRawBufferPointer(start: text.bytes, count: text.count).withMemoryRebound(to: UInt8.self) {
            unsafe String(decoding: $0, as: UTF8.self)
        }
    }
}
