internal import Glibc

/// The memory of a `GrowingColumn`: a block of the heap up to a megabyte, and a range of addresses beyond.
///
/// A block that is too small is replaced by one of twice the size, which costs a copy. A range is reserved for much more than it has: the system gives
/// memory to an address when it is used first, so a range grows by the right to use more addresses, and its bytes stay where they are. An array of a
/// gigabyte that doubles would copy all of it, and a shard would serve nobody for the better part of a second.
@safe @usableFromInline final class ColumnMemory {
    /// Maximum size of a block, and so of what a growing column copies.
    static let blockSizeMax = 1 << 20
    /// Size of the first block.
    private static let blockSizeMin = 64
    /// Size of the addresses that a range has, unless a column asks for an eighth of that at once: room for more than a hundred million activities
    /// of 48 bytes. A larger column is copied to a larger range.
    private static let reach = 1 << 33
    /// Size by which ranges grow, and to which they are aligned: that of a huge page of x86-64. Where the system gives huge pages unasked, it gives
    /// them only to parts of a range that may be used from end to end, and a sweep reads them with fewer misses of the address cache.
    private static let step = 1 << 21

    let base: UnsafeMutableRawPointer
    /// Size of the addresses from the range's first one to `base`.
    private let offset: Int
    /// Size of the addresses from `base` to the range's end; 0 for a block.
    private let reserved: Int
    /// Size of what may be used.
    private(set) var size: Int
    /// Greatest number of bytes that the column has copied at a time.
    let copiedMax: Int

    /// Takes memory, and copies what is in the former one.
    ///
    /// - Parameters:
    ///   - needed: least size of what may be used.
    ///   - used: number of the former memory's bytes to copy.
    init(_ needed: Int, after former: ColumnMemory?, used: Int) {
        let wanted = max(needed, used * 2, ColumnMemory.blockSizeMin)
        let reach = max(ColumnMemory.reach, wanted * 8)
        copiedMax = max(former?.copiedMax ?? 0, used)
        if wanted > ColumnMemory.blockSizeMax, let start = unsafe ColumnMemory.reserve(reach + ColumnMemory.step) {
            let address = Int(bitPattern: start)
            let gap = (address + ColumnMemory.step - 1) / ColumnMemory.step * ColumnMemory.step - address
            offset = gap
            unsafe base = start + gap
            reserved = reach
            size = 0
            let isUsable = extend(to: wanted)
            precondition(isUsable, "the system has no memory for a column of \(wanted) bytes")
        } else {
            // The heap takes its place where the system limits the addresses of a process; a column is then copied as an array is.
            offset = 0
            unsafe base = UnsafeMutableRawPointer.allocate(byteCount: wanted, alignment: 16)
            reserved = 0
            size = wanted
        }
        if let former { unsafe base.copyMemory(from: former.base, byteCount: used) }
    }

    deinit {
        if reserved > 0 {
            unsafe munmap(base - offset, reserved + ColumnMemory.step)
        } else {
            unsafe base.deallocate()
        }
    }

    /// Makes more bytes usable, where they are.
    ///
    /// - Returns: `false` if the memory is a block, or a range that ends before.
    func extend(to needed: Int) -> Bool {
        let end = (needed + ColumnMemory.step - 1) / ColumnMemory.step * ColumnMemory.step
        guard end <= reserved else { return false }
        guard end > size else { return true }
        guard unsafe mprotect(base + size, end - size, PROT_READ | PROT_WRITE) == 0 else { return false }
        size = end
        return true
    }

    /// Is `true` if the process has a limit of its addresses (`RLIMIT_AS`). Reserved addresses count against it, and the heap would get none.
    private static let areAddressesLimited: Bool = {
        var limit = rlimit()
        return unsafe getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) != 0 || limit.rlim_cur != .max
    }()

    /// Returns addresses that nobody may use yet; `nil` if the system limits or refuses them.
    private static func reserve(_ bytes: Int) -> UnsafeMutableRawPointer? {
        guard !areAddressesLimited else { return nil }
        guard let address = unsafe mmap(nil, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            unsafe address != MAP_FAILED
        else { return nil }
        return unsafe address
    }
}
