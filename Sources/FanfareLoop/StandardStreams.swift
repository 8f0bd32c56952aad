#if canImport(Glibc)
internal import Glibc
#endif

/// Standard input, output and error: descriptors 0, 1 and 2.
package enum StandardStreams {
    /// Opens /dev/null for each that the process was started without, as by `<&-`: the next file to be opened would be taken for it. For
    /// a program to do before it opens any; a loop does it, too.
    package static func fill() {
        // `open` takes the lowest number that is free, which is the one found missing.
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            _ = open("/dev/null", O_RDWR)
        }
    }
}
