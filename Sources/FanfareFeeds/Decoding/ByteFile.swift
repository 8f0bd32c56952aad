import FanfareModel
import Glibc

/// A file open for sequential reading.
final class ByteFile {
    let path: String
    private let descriptor: Int32

    init(path: String) throws(FeedError) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FeedError(path: path, reason: ByteFile.lastError("cannot be opened")) }
        self.path = path
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Reads into the front of `space`. Returns the number of bytes; 0 at the end.
    func read(into space: UnsafeMutableRawBufferPointer) throws(FeedError) -> Int {
        while true {
            let count = unsafe Glibc.read(descriptor, space.baseAddress, space.count)
            if count >= 0 { return count }
            guard errno == EINTR else { throw FeedError(path: path, reason: ByteFile.lastError("cannot be read")) }
        }
    }

    /// Returns the next bytes, fewer than `limit` at the end of the file.
    func read(upTo limit: ByteCount) throws(FeedError) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < limit.bytes {
            var failure: FeedError?
            let chunk = unsafe [UInt8](unsafeUninitializedCapacity: min(limit.bytes - bytes.count, 1 << 18)) {
                space, count in
                do throws(FeedError) {
                    count = try unsafe read(into: UnsafeMutableRawBufferPointer(space))
                } catch {
                    failure = error
                }
            }
            if let failure { throw failure }
            if chunk.isEmpty { break }
            bytes += chunk
        }
        return bytes
    }

    /// Returns the contents of a file, or `nil` if it is larger than `limit`.
    static func contents(of path: String, limit: ByteCount) throws(FeedError) -> [UInt8]? {
        let bytes = try prefix(of: path, limit: limit + .bytes(1))
        return bytes.count > limit.bytes ? nil : bytes
    }

    /// Returns the first bytes of a file, at most `limit`.
    static func prefix(of path: String, limit: ByteCount) throws(FeedError) -> [UInt8] {
        try ByteFile(path: path).read(upTo: limit)
    }

    /// Returns `true` for a regular file or a link to one, and `false` for a folder or something that can be read only once (a pipe).
    static func isRegular(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// Returns `true` if the path is a folder, and not a link to one.
    static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Returns `true` if the path exists and is neither a regular file nor a folder.
    static func isReadOnce(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
            && status.st_mode & S_IFMT != S_IFDIR
    }

    /// Returns the size of a regular file; `nil` for anything else.
    static func size(of path: String) -> ByteCount? {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
            ? ByteCount.bytes(Int(status.st_size)) : nil
    }

    private static func lastError(_ what: String) -> String { unsafe "\(what): \(String(cString: strerror(errno)))" }
}
