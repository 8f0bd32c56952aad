import Foundation

/// Real recordings, which may not be given away with the repository. They are looked for in `FANFARE_FEEDS`, else in
/// `../shared/feeds` beside the package; tests that need them say so when they are skipped.
enum Recordings {
    static let folder: String? = {
        let package = #filePath.components(separatedBy: "/Tests/Differential/")[0]
        let named = ProcessInfo.processInfo.environment["FANFARE_FEEDS"]
        return [named, package + "/../shared/feeds"].compactMap { $0 }.first {
            FileManager.default.fileExists(atPath: $0)
        }
    }()

    static let areHere = folder != nil
    static let skipped = "SKIPPED: the recordings are not here; set FANFARE_FEEDS to their folder"

    static func path(_ name: String) -> String { (folder ?? "") + "/" + name }

    static func facts<Facts: Decodable>(_ name: String, as type: Facts.Type = Facts.self) throws -> Facts {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Facts.self, from: Data(contentsOf: URL(fileURLWithPath: path(name))))
    }
}
