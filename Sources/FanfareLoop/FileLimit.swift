#if canImport(Glibc)
internal import Glibc
#endif

/// Limit of open files and sockets of this process (`RLIMIT_NOFILE`).
package enum FileLimit {
    /// Raises the limit to the system's "hard" limit. Most processes begin with 1,024, for programs that wait with `select`.
    /// A program calls it as it starts; a program that embeds the engine decides for itself.
    package static func raise() {
        var limit = FileLimit.now
        guard limit.rlim_cur < limit.rlim_max else { return }
        limit.rlim_cur = limit.rlim_max
        unsafe setrlimit(resource, &limit)
    }

    /// The current limit; `Int.max` if there is none.
    package static var count: Int { Int(clamping: FileLimit.now.rlim_cur) }

    private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)

    private static var now: rlimit {
        var limit = rlimit()
        unsafe getrlimit(resource, &limit)
        return limit
    }
}
