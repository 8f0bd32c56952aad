#if canImport(Glibc)
internal import Glibc
#endif

/// Standard input, output and error: descriptors 0, 1 and 2.
package enum StandardStreams {
    /// Opens /dev/null for each descriptor that the process was started without, as by `<&-`; otherwise the next opened file
    /// would take its number. A program calls it before it opens a file; a loop calls it, too.
    package static func fill() {
        // `open` returns the lowest free number, which is the missing one.
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            _ = unsafe open("/dev/null", O_RDWR)
        }
    }
}
