internal import CFanfareNghttp2
internal import Glibc

/// Allocator for nghttp2's small blocks. A request needs a dozen blocks of few sizes and hundreds of requests are open at a time, which
/// exceeds the C library's per-thread cache. Freed blocks wait in a list of their size. All sessions of one simulator share an allocator
/// and keep it alive. It is confined to the simulator's loop: several simulators may run in one process, on threads of their own.
final class SessionMemory {
    /// Bytes in front of each block for its size class. Keeps blocks aligned as `malloc` does.
    private static let headerBytes = 16
    private static let classBytes = 64
    /// Number of size classes. Blocks of up to 1 KB are reused; larger ones (nghttp2's buffers) live as long as their session.
    private static let classes = 17

    /// Freed blocks as a linked list per class, newest first: a block's first word points to the
    /// next. Bounded by the most blocks in use at once.
    private let free = UnsafeMutablePointer<UnsafeMutableRawPointer?>.allocate(capacity: classes)
    private(set) var callbacks = nghttp2_mem()

    init() {
        free.initialize(repeating: nil, count: SessionMemory.classes)
        callbacks = nghttp2_mem(
            mem_user_data: Unmanaged.passUnretained(self).toOpaque(),
            malloc: { count, memory in with(memory) { $0.take(count) } },
            free: { piece, memory in with(memory) { $0.giveBack(piece) } },
            calloc: { count, size, memory in
                // nghttp2 never requests a size that overflows.
                let piece = with(memory) { $0.take(count * size) }
                if let piece { memset(piece, 0, count * size) }
                return piece
            },
            realloc: { piece, count, memory in with(memory) { $0.resize(piece, count) } })
    }

    deinit {
        for list in 0..<SessionMemory.classes {
            while let piece = free[list] {
                free[list] = piece.load(as: UnsafeMutableRawPointer?.self)
                Glibc.free(piece - SessionMemory.headerBytes)
            }
        }
        free.deallocate()
    }

    private func take(_ count: Int) -> UnsafeMutableRawPointer? {
        let list = (count + SessionMemory.headerBytes + SessionMemory.classBytes - 1) / SessionMemory.classBytes
        let bytes: Int
        if list < SessionMemory.classes {
            if let piece = free[list] {
                free[list] = piece.load(as: UnsafeMutableRawPointer?.self)
                return piece
            }
            bytes = list * SessionMemory.classBytes
        } else {
            bytes = count + SessionMemory.headerBytes
        }
        guard let memory = malloc(bytes) else { return nil }
        memory.storeBytes(of: bytes, as: Int.self)
        return memory + SessionMemory.headerBytes
    }

    private func giveBack(_ piece: UnsafeMutableRawPointer?) {
        guard let piece else { return }
        let memory = piece - SessionMemory.headerBytes
        let list = memory.load(as: Int.self) / SessionMemory.classBytes
        guard list < SessionMemory.classes else { return Glibc.free(memory) }
        piece.storeBytes(of: free[list], as: UnsafeMutableRawPointer?.self)
        free[list] = piece
    }

    private func resize(_ piece: UnsafeMutableRawPointer?, _ count: Int) -> UnsafeMutableRawPointer? {
        guard let piece else { return take(count) }
        let room = (piece - SessionMemory.headerBytes).load(as: Int.self) - SessionMemory.headerBytes
        guard count > room else { return piece }
        guard let larger = take(count) else { return nil }
        memcpy(larger, piece, room)
        giveBack(piece)
        return larger
    }
}

/// Calls `body` with the object behind `memory`, which outlives the sessions that use it.
@inline(__always)
private func with<Result>(_ memory: UnsafeMutableRawPointer?, _ body: (SessionMemory) -> Result) -> Result {
    Unmanaged<SessionMemory>.fromOpaque(memory!)._withUnsafeGuaranteedRef(body)
}
