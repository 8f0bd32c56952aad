import Foundation
import Glibc

/// The path of a folder that goes with the object, and everything in it. The folder is not there until somebody makes it. Folders of a process that
/// has died, as one does with a planted fault, go when another process makes its first one: keys are among their files.
package final class TemporaryFolder: Sendable {
    package let path: String

    private static let prefix = "fanfare-test."
    private static let hasTidied: Void = removeThoseOfTheDead()

    package init() {
        _ = TemporaryFolder.hasTidied
        path = NSTemporaryDirectory() + "\(TemporaryFolder.prefix)\(getpid()).\(UUID())"
    }

    /// Removes the folders of processes that are no more.
    package static func removeThoseOfTheDead() {
        let all = NSTemporaryDirectory()
        for name in (try? FileManager.default.contentsOfDirectory(atPath: all)) ?? [] where name.hasPrefix(prefix) {
            guard let process = name.dropFirst(prefix.count).split(separator: ".").first.flatMap({ pid_t($0) }),
                kill(process, 0) != 0, errno == ESRCH
            else { continue }
            try? FileManager.default.removeItem(atPath: all + name)
        }
    }

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
