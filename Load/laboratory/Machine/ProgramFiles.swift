import Foundation
import Glibc

/// Where a program of the laboratory finds the files that it needs: the programs beside it, and those of the repository above.
enum ProgramFiles {
    /// Folder of this executable.
    static var folder: String {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &path, path.count - 1)
        let text = String(decoding: path.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return URL(fileURLWithPath: text).deletingLastPathComponent().path
    }

    /// A file of the repository, looked for in the folders above the executable's and in the working folder.
    static func repositoryFile(_ path: String) -> String? {
        var folders = [FileManager.default.currentDirectoryPath]
        var folder = URL(fileURLWithPath: ProgramFiles.folder)
        while folder.path != "/" {
            folders.append(folder.path)
            folder.deleteLastPathComponent()
        }
        return folders.map { "\($0)/\(path)" }.first { FileManager.default.fileExists(atPath: $0) }
    }
}
