import Glibc

/// A file that is written front to back; `-` is standard output. What cannot be written is remembered as `failure`, and
/// everything after it is dropped, so that a file never has a hole.
final class OutputFile {
    /// One line for people, once something could not be written.
    private(set) var failure: String?

    private let path: String
    private let descriptor: Int32
    private var pending: [UInt8] = []
    private let pendingMax: Int

    /// - Parameters:
    ///   - option: the option that named the file, for messages.
    ///   - isLive: somebody reads along, so every `write` arrives at once.
    init(path: String, option: String, isLive: Bool = false) throws(UsageError) {
        self.path = path == "-" ? "standard output" : path
        pendingMax = isLive ? 0 : 1 << 16
        if path == "-" {
            descriptor = STDOUT_FILENO
        } else {
            descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
            guard descriptor >= 0 else {
                throw UsageError("\(option) \(path): cannot be written: \(String(cString: strerror(errno)))")
            }
        }
    }

    deinit {
        flush()
        if descriptor != STDOUT_FILENO { close(descriptor) }
    }

    func write(_ bytes: [UInt8]) {
        pending.append(contentsOf: bytes)
        if pending.count > pendingMax { flush() }
    }

    func write(_ text: String) { write(Array(text.utf8)) }

    func flush() {
        var written = 0
        while written < pending.count, failure == nil {
            let count = pending[written...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                written += count
            } else if errno != EINTR {
                failure = "\(path): cannot be written: \(String(cString: strerror(errno)))"
            }
        }
        pending.removeAll(keepingCapacity: true)
    }
}
