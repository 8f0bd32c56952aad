/// The content state of a lineup: one JSON object joined from the states of its topics, byte by byte, without parsing.
///
/// `topics` (in display order; each `id`, `kind`, `state`), `spotlight` (index into `topics`), `highlight` (the key of the
/// spotlight's state that just changed) and `more` (how many topics did not fit).
enum LineupState {
    /// What one topic contributes.
    struct Part {
        let publication: Publication
        /// The state's bytes; with an alert on board its `highlight` follows the alert.
        let state: [UInt8]
    }

    /// Static and dynamic data together stay under 4 KB (rule U4); a quarter of it is the app's and the envelope's.
    static let bytesMax = 3072

    /// - Parameter parts: in display order, at least one.
    /// - Parameter spotlight: index into `parts`; that topic is never left out.
    static func compose(_ parts: [Part], spotlight: Int, highlight: String?) -> [UInt8] {
        var shown = Array(parts.indices)
        while true {
            let bytes = join(parts, shown, spotlight: spotlight, highlight: highlight)
            guard bytes.count > bytesMax, let last = shown.lastIndex(where: { $0 != spotlight }) else { return bytes }
            shown.remove(at: last)
        }
    }

    private static func join(_ parts: [Part], _ shown: [Int], spotlight: Int, highlight: String?) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(bytesMax)
        bytes.append(UInt8(ascii: "{"))
        if let highlight {
            bytes.append(contentsOf: "\"highlight\":".utf8)
            JSONValue.write(highlight, to: &bytes)
            bytes.append(UInt8(ascii: ","))
        }
        bytes.append(contentsOf: "\"more\":\(parts.count - shown.count),".utf8)
        bytes.append(contentsOf: "\"spotlight\":\(shown.firstIndex(of: spotlight) ?? 0),\"topics\":[".utf8)
        for (index, part) in shown.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes.append(contentsOf: "{\"id\":".utf8)
            JSONValue.write(parts[part].publication.topicID.rawValue, to: &bytes)
            bytes.append(contentsOf: ",\"kind\":".utf8)
            JSONValue.write(parts[part].publication.topicKind.rawValue, to: &bytes)
            bytes.append(contentsOf: ",\"state\":".utf8)
            bytes.append(contentsOf: parts[part].state)
            bytes.append(UInt8(ascii: "}"))
        }
        bytes.append(contentsOf: "]}".utf8)
        return bytes
    }
}
