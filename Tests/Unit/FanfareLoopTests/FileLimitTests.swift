import FanfareLoop
import Glibc
import Testing

@Suite struct FileLimitTests {
    /// In a process of its own: the limit is everybody's.
    @Test func fileLimitIsRaisedAsFarAsTheSystemLets() async {
        await #expect(processExitsWith: .success) {
            let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
            var limit = rlimit()
            getrlimit(files, &limit)
            limit.rlim_cur = 64
            setrlimit(files, &limit)
            #expect(FileLimit.count == 64)
            FileLimit.raise()
            #expect(FileLimit.count == Int(clamping: limit.rlim_max))
            FileLimit.raise()
            #expect(FileLimit.count == Int(clamping: limit.rlim_max))
        }
    }
}
