internal import CFanfareUV

#if canImport(Glibc)
internal import Glibc
#endif

/// Reads a whole file and blocks on the disk; for start-up and for small files such as keys.
/// - Parameter max: maximum size in bytes; a larger file is an error and is not read further.
package func readFile(_ path: String, max: Int) throws(LoopError) -> [UInt8] {
    let descriptor = try openForReading(path)
    defer { Glibc.close(descriptor) }
    var bytes: [UInt8] = []
    var count = 0
    repeat {
        // One byte more than allowed distinguishes a file of exactly that size from a larger one.
        let left = max - bytes.count
        let room = left < 64 * 1024 ? left + 1 : 64 * 1024
        count = 0
        unsafe bytes.append(
            contentsOf: [UInt8](unsafeUninitializedCapacity: room) { buffer, initialized in
                count = unsafe Glibc.read(descriptor, buffer.baseAddress, room)
                initialized = Swift.max(0, count)
            })
        if count < 0, errno != EINTR { throw LoopError(code: -errno, call: "read", place: path) }
        guard bytes.count <= max else {
            throw LoopError(.tooLarge, call: "read", place: path, reason: "the file is larger than \(max) bytes")
        }
    } while count != 0
    return bytes
}

/// Opens a file for reading; the caller owns the descriptor. Blocks at a named pipe until a writer opens it.
func openForReading(_ path: String) throws(LoopError) -> CInt {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw LoopError(code: -errno, call: "open", place: path) }
    return descriptor
}
