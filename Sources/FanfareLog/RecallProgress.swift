internal import Glibc

/// Position of the entry that a restart is deciding, in a mapped file: the system keeps it if the process ends in the middle of that.
///
/// The file has three numbers: that position, or 0; the position at which earlier processes have ended; and the number of processes in a row that
/// have ended there. Confined to the thread of its log.
@safe final class RecallProgress {
    private static let count = 3
    private let numbers: UnsafeMutablePointer<UInt64>

    /// Maps the file; `nil` if the system refuses, as on a full disk: a process that ends then leaves no trace.
    init?(of descriptor: CInt) {
        let bytes = RecallProgress.count * MemoryLayout<UInt64>.stride
        // A mapped page that the disk has no room for would end the process.
        guard posix_fallocate(descriptor, 0, off_t(bytes)) == 0,
            let address = unsafe mmap(nil, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
            unsafe address != MAP_FAILED
        else { return nil }
        unsafe numbers = address.bindMemory(to: UInt64.self, capacity: RecallProgress.count)
    }

    deinit { unsafe munmap(numbers, RecallProgress.count * MemoryLayout<UInt64>.stride) }

    /// Notes that the entry is about to be decided. Processes that have ended at an earlier entry do not count any more.
    func begin(_ position: LogPosition) {
        if unsafe position > numbers[1] { unsafe (numbers[1], numbers[2]) = (0, 0) }
        unsafe numbers[0] = position
    }

    /// Notes that the entry has been decided.
    func end() { unsafe numbers[0] = 0 }

    /// Forgets the position at which earlier processes have ended.
    func forget() { unsafe (numbers[0], numbers[1], numbers[2]) = (0, 0, 0) }

    /// Returns the entry at which the earlier process ended, and the number of processes in a row that ended there; `nil` if it ended elsewhere.
    func takeDeath() -> (position: LogPosition, deaths: UInt64)? {
        let position = unsafe numbers[0]
        guard position > 0 else { return nil }
        let deaths = unsafe numbers[1] == position ? numbers[2] &+ 1 : 1
        unsafe (numbers[0], numbers[1], numbers[2]) = (0, position, deaths)
        return (position, deaths)
    }
}
