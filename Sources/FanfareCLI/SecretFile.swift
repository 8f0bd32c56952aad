import Glibc

/// Output with secrets: only its owner may read it. A regular file replaces the former one once it is whole, so that a failed export, or an ended
/// process, leaves the former export.
struct SecretFile: ~Copyable {
    let output: OutputFile
    /// File to be replaced; `nil` for standard output, a pipe and a device, which have no former content.
    private let target: String?
    private let partial: String

    init(path: String) throws(UsageError) {
        // A link stays; its target is replaced.
        let resolved = unsafe realpath(path, nil)
        let target = unsafe resolved.map { unsafe String(cString: $0) } ?? path
        unsafe free(resolved)
        partial = target + ".partial"
        guard path != "-" else {
            output = OutputFile(descriptor: STDOUT_FILENO, name: "standard output")
            self.target = nil
            return
        }
        var status = stat()
        let isReplaced = unsafe stat(target, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
        if isReplaced { unsafe unlink(partial) }
        let descriptor =
            unsafe isReplaced
            ? open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600) : open(target, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw UsageError(
                unsafe "\(isReplaced ? partial : path): cannot be written: \(String(cString: strerror(errno)))")
        }
        output = OutputFile(descriptor: descriptor, name: path)
        self.target = isReplaced ? target : nil
    }

    /// Puts the file in its place, when all of it is on the disk.
    consuming func finish() throws {
        guard output.flush() else {
            remove()
            throw OutputError(output)
        }
        guard let target else { return }
        guard output.sync(), unsafe rename(partial, target) == 0 else {
            let reason = unsafe String(cString: strerror(errno))
            remove()
            throw UsageError("\(output.name): cannot be written: \(reason)")
        }
    }

    /// Leaves the former file as it is.
    consuming func abandon() { remove() }

    private func remove() { if target != nil { unsafe unlink(partial) } }
}
