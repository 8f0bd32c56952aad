import FanfareModel
import Glibc

extension TOMLValue {
    /// Reads the bytes of a file, or of a pipe such as the shell's `<(…)`, and stops beyond the maximum size of a document: neither a log of ten
    /// gigabytes nor `/dev/zero` fills the memory. `document` then finds the bytes too many.
    ///
    /// - Throws: `TOMLError` with the system's reason.
    package static func contents(ofFile path: String) throws(TOMLError) -> [UInt8] {
        // The open waits for no writer of a named pipe, because there may never be one.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw unreadable(path) }
        defer { close(descriptor) }
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        var bytes: [UInt8] = []
        while bytes.count <= sizeMax.bytes {
            let count = unsafe chunk.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
            if count == 0 { break }
            if count > 0 {
                bytes += chunk[..<count]
            } else if errno == EAGAIN {
                // A writer has the pipe open, and has written nothing yet.
                var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                _ = unsafe poll(&ready, 1, -1)
            } else if errno != EINTR {
                throw unreadable(path)
            }
        }
        // The writer of a pipe that ends without a byte has failed, or there is none.
        guard !bytes.isEmpty || !isPipe(descriptor) else {
            throw TOMLError(unreadable: path, "nothing came from the pipe")
        }
        return bytes
    }

    /// Makes the error from `errno`.
    private static func unreadable(_ path: String) -> TOMLError {
        TOMLError(unreadable: path, unsafe String(cString: strerror(errno)))
    }

    private static func isPipe(_ descriptor: CInt) -> Bool {
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
    }
}
