import Foundation

/// Files that accompany a feed, for its decoder or for people.
enum Sidecar {
    static let wyscoutMetadata = "matches-metadata.json"
    static let gtfsStatic = "gtfs-static"

    static func isOne(named path: String) -> Bool {
        let parts = path.split(separator: "/").map(String.init)
        return parts.last == wyscoutMetadata || parts.last == "facts.json" || parts.contains(gtfsStatic)
    }

    static func isDFLMatch(_ head: [UInt8]) -> Bool { head.starts(withXML: "<MatchInformation") }
}

/// Returns the folders that may contain sidecars of a file: its own, and the one above.
func foldersAround(_ path: String) -> [String] {
    let parent = (path as NSString).deletingLastPathComponent
    let folder = parent.isEmpty ? (path.hasPrefix("/") ? "/" : ".") : parent
    return [folder, folder + "/.."]
}
