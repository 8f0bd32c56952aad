#if canImport(Glibc)
internal import Glibc
#endif

/// How many files and sockets this process may have open at a time (`RLIMIT_NOFILE`).
package enum FileLimit {
    /// Takes as many as the system lets the process have, its "hard" limit. Most begin with 1,024, for programs that wait with `select`.
    /// For a program to do as it starts: in one that embeds the engine it is that one's matter.
    package static func raise() {
        var limit = FileLimit.now
        guard limit.rlim_cur < limit.rlim_max else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(resource, &limit)
    }

    /// As it is now; `Int.max` where there is none.
    package static var count: Int { Int(clamping: FileLimit.now.rlim_cur) }

    private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)

    private static var now: rlimit {
        var limit = rlimit()
        getrlimit(resource, &limit)
        return limit
    }
}
