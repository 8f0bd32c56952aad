import FanfareModel
import Glibc

/// The files that a command reads and writes, identified by device and inode: no file may be both, and no two outputs may share a file.
struct FileRoles {
    private struct Identity: Hashable {
        let device: dev_t
        let inode: ino_t

        init(_ status: stat) {
            device = status.st_dev
            inode = status.st_ino
        }
    }

    /// Names of the files for messages.
    private var read: [Identity: String] = [:]
    private var written: [Identity: String] = [:]

    /// Registers a file as an input. A file whose status cannot be read is ignored here; its reader reports it.
    mutating func reads(_ path: String) {
        if let status = FileRoles.status(of: path, standard: STDIN_FILENO) { read[Identity(status)] = path }
    }

    /// Opens a file for writing and empties it, unless `keepsContent` is `true`.
    mutating func open(
        _ path: String, option: String, capacity: ByteCount = OutputFile.capacity, keepsContent: Bool = false,
        awaitsReader: Bool = true
    ) throws(UsageError) -> OutputFile {
        try check(path, option: option)
        let file = try OutputFile(
            path: path, option: option, capacity: capacity, keepsContent: keepsContent,
            awaitsReader: awaitsReader || !FileRoles.isNamedPipe(path))
        if let status = FileRoles.status(of: path, standard: STDOUT_FILENO) { written[Identity(status)] = path }
        return file
    }

    /// Refuses a file to be written that is an input, or that another option writes.
    func check(_ path: String, option: String) throws(UsageError) {
        if let status = FileRoles.status(of: path, standard: STDOUT_FILENO), status.st_mode & S_IFMT == S_IFREG {
            if let name = read[Identity(status)] ?? folder(around: path) {
                throw UsageError("\(option) \(path): is read and written (\(name))")
            }
            // Standard output may be named twice: its two outputs follow one another.
            if let other = written[Identity(status)], path != "-" || other != "-" {
                throw UsageError("\(option) \(path): is written twice (\(other))")
            }
        }
    }

    /// Returns the registered input folder that contains the file at any depth, or `nil`.
    private func folder(around path: String) -> String? {
        guard path != "-", let whole = FileRoles.realPath(of: path) else { return nil }
        var folder = Substring(whole)
        while let slash = folder.lastIndex(of: "/") {
            folder = folder[..<slash]
            let name = folder.isEmpty ? "/" : String(folder)
            if let status = FileRoles.status(of: name, standard: STDIN_FILENO), let known = read[Identity(status)] {
                return known
            }
        }
        return nil
    }

    /// Returns the path of the file that will be written, however it is spelled; for a link, its target's path.
    static func target(of path: String) -> String {
        guard path != "-" else { return path }
        var target = path
        // A file that is not there yet is found by its folder. A path has as many links as the system follows, at most.
        for _ in 0..<40 {
            if let whole = realPath(of: target) { return whole }
            let slash = target.lastIndex(of: "/")
            let folder = slash.map { String(target[...$0]) } ?? "./"
            var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
            let count = unsafe readlink(target, &bytes, bytes.count)
            guard count > 0 else {
                let name = slash.map { target[target.index(after: $0)...] } ?? target[...]
                return (realPath(of: folder) ?? folder) + "/" + name
            }
            let named = String(decoding: bytes[..<count], as: UTF8.self)
            target = named.hasPrefix("/") ? named : folder + named
        }
        return target
    }

    private static func realPath(of path: String) -> String? {
        guard let whole = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(whole) }
        return unsafe String(cString: whole)
    }

    /// Returns `true` if the path is a regular file.
    static func isRegular(_ path: String) -> Bool {
        path != "-" && status(of: path, standard: STDOUT_FILENO).map { $0.st_mode & S_IFMT == S_IFREG } == true
    }

    static func isNamedPipe(_ path: String) -> Bool {
        path != "-" && status(of: path, standard: STDOUT_FILENO).map { $0.st_mode & S_IFMT == S_IFIFO } == true
    }

    /// - Parameter standard: descriptor that `-` stands for.
    private static func status(of path: String, standard: CInt) -> stat? {
        var status = stat()
        return unsafe (path == "-" ? fstat(standard, &status) : stat(path, &status)) == 0 ? status : nil
    }
}
