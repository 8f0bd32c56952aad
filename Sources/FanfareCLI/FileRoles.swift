import Glibc

/// Which files a command reads and which it writes, by what their paths lead to: nothing is both, and no two outputs are one file.
struct FileRoles {
    private struct Identity: Hashable {
        let device: dev_t
        let inode: ino_t

        init(_ status: stat) {
            device = status.st_dev
            inode = status.st_ino
        }
    }

    /// How each is called, in messages.
    private var read: [Identity: String] = [:]
    private var written: [Identity: String] = [:]

    /// What cannot be looked at is left to whoever reads it.
    mutating func reads(_ path: String) {
        if let status = FileRoles.status(of: path, standard: STDIN_FILENO) { read[Identity(status)] = path }
    }

    /// Opens a file to write, which empties it.
    mutating func open(
        _ path: String, option: String, capacity: Int = OutputFile.capacity
    ) throws(UsageError) -> OutputFile {
        if let status = FileRoles.status(of: path, standard: STDOUT_FILENO), status.st_mode & S_IFMT == S_IFREG {
            if let name = read[Identity(status)] ?? folder(around: path) {
                throw UsageError("\(option) \(path): is read and written (\(name))")
            }
            // To standard output one comes after the other.
            if let other = written[Identity(status)], path != "-" || other != "-" {
                throw UsageError("\(option) \(path): is written twice (\(other))")
            }
        }
        let file = try OutputFile(path: path, option: option, capacity: capacity)
        if let status = FileRoles.status(of: path, standard: STDOUT_FILENO) { written[Identity(status)] = path }
        return file
    }

    /// A folder that is read, and in which the file stands at any depth.
    private func folder(around path: String) -> String? {
        guard path != "-", let whole = realpath(path, nil) else { return nil }
        defer { free(whole) }
        var folder = Substring(String(cString: whole))
        while let slash = folder.lastIndex(of: "/") {
            folder = folder[..<slash]
            let name = folder.isEmpty ? "/" : String(folder)
            if let status = FileRoles.status(of: name, standard: STDIN_FILENO), let known = read[Identity(status)] {
                return known
            }
        }
        return nil
    }

    /// - Parameter standard: what `-` stands for.
    private static func status(of path: String, standard: CInt) -> stat? {
        var status = stat()
        return (path == "-" ? fstat(standard, &status) : stat(path, &status)) == 0 ? status : nil
    }
}
