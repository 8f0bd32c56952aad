import Foundation

/// The path of a folder that goes with the object, and everything in it. The folder is not there until somebody makes it.
package final class TemporaryFolder: Sendable {
    package let path = NSTemporaryDirectory() + "fanfare-test-\(UUID())"

    package init() {}

    /// Makes a folder that is there.
    package static func made() throws -> TemporaryFolder {
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        return folder
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Names of the folder's files, in their order; none while the folder is not there.
    package var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }
}
