import Foundation
import Testing

@testable import FanfareQueues

@Suite struct ColumnMemoryTests {
    /// In a process of its own: the limit is everybody's.
    @Test func columnsLeaveLimitedAddressesToTheHeap() async {
        await #expect(processExitsWith: .success) {
            let space = __rlimit_resource_t(RLIMIT_AS.rawValue)
            let figures = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
            let pages = try #require(figures.first.flatMap { UInt($0) })
            var limit = rlimit()
            getrlimit(space, &limit)
            // Room for the range of one column, and for little else.
            limit.rlim_cur = pages * UInt(getpagesize()) + 9 << 30
            setrlimit(space, &limit)
            let columns = [7, 8].map { GrowingColumn<UInt64>(repeating: $0, count: 1 << 19) }
            let memory = malloc(2 << 30)
            let hasMemory = memory != nil
            free(memory)
            #expect(hasMemory && columns[0][0] == 7 && columns[1][(1 << 19) - 1] == 8)
        }
    }
}
