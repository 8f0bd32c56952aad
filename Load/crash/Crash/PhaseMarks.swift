import FanfareLog
import Glibc
import Synchronization

/// Activity of a program, in which a kill may find it.
package enum Phase: Int, CaseIterable, Sendable {
    /// Commits of entries, of people's rows, and of claims.
    case entries, people, claims
    /// A checkpoint is being written.
    case checkpoint
    /// A restart reads entries and decides them again.
    case recall
    /// A restart reads the people.
    case loading
    /// Pushes of a crowd's topic are on their way.
    case sweep
    /// A start has left and has no answer.
    case start

    var isCommit: Bool { self == .entries || self == .people || self == .claims }
}

/// Trace of a program's phases in a mapped file, which is as it was when the program is killed: for each phase the number of times that the
/// program is in it now.
///
/// `Sendable` is unchecked because the numbers are atomic and the mapping lives as long as the object.
package final class PhaseMarks: @unchecked Sendable {
    private let numbers: UnsafeMutablePointer<Atomic<Int>>
    private static let bytes = Phase.allCases.count * MemoryLayout<Atomic<Int>>.stride

    package init(file: String) throws(CrashError) {
        let descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CrashError("\(file): \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        guard ftruncate(descriptor, off_t(PhaseMarks.bytes)) == 0,
            let address = mmap(nil, PhaseMarks.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
            address != MAP_FAILED
        else { throw CrashError("\(file): cannot be mapped: \(String(cString: strerror(errno)))") }
        // A file's bytes are zero at first, which is the form of an atomic zero.
        numbers = address.bindMemory(to: Atomic<Int>.self, capacity: Phase.allCases.count)
    }

    deinit { munmap(numbers, PhaseMarks.bytes) }

    func add(_ count: Int, to phase: Phase) { numbers[phase.rawValue].add(count, ordering: .relaxed) }

    func during<Result>(_ phase: Phase, _ body: () throws(LogError) -> Result) throws(LogError) -> Result {
        add(1, to: phase)
        defer { add(-1, to: phase) }
        return try body()
    }

    func isIn(_ phase: Phase) -> Bool { numbers[phase.rawValue].load(ordering: .relaxed) > 0 }

    /// Phases that the program is in.
    var current: [Phase] { Phase.allCases.filter(isIn) }

    /// Begins the trace of another program.
    func clear() { for phase in Phase.allCases { numbers[phase.rawValue].store(0, ordering: .relaxed) } }
}

/// A run that cannot go on, with the reason in one line for people.
package struct CrashError: Error, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}
