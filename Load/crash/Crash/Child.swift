import Glibc

/// A running program, and the socket to it.
final class Child {
    let pid: pid_t
    private let socket: Int32
    private var buffer = LineBuffer()
    /// Record of the requests and the answers; `nil` if nobody keeps it.
    private var exchange: UnsafeMutablePointer<FILE>?
    private var isReaped = false

    /// Starts this executable again.
    ///
    /// - Parameters:
    ///   - log: file that gets what the program reports.
    ///   - exchange: file that gets the requests and the answers behind those of earlier programs.
    init(_ arguments: [String], log: String, exchange file: String? = nil) throws(CrashError) {
        var ends: [Int32] = [0, 0]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else {
            throw CrashError("socketpair: \(String(cString: strerror(errno)))")
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        socket = ends[0]
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        var words: [UnsafeMutablePointer<CChar>?] = (["fanfare-crash"] + arguments).map { strdup($0) }
        words.append(nil)
        defer { for word in words { free(word) } }
        var pid: pid_t = 0
        let code = posix_spawn(&pid, "/proc/self/exe", &actions, nil, words, environ)
        close(ends[1])
        guard code == 0 else {
            close(socket)
            throw CrashError("the program cannot be started: \(String(cString: strerror(code)))")
        }
        self.pid = pid
        if let file { exchange = fopen(file, "a") }
        note("begins", "process \(pid)")
    }

    deinit {
        if let exchange { fclose(exchange) }
        if !isReaped {
            kill(pid, SIGKILL)
            _ = reap()
        }
        close(socket)
    }

    private func note(_ what: String, _ line: String) {
        guard let exchange else { return }
        fputs("\(what): \(line)\n", exchange)
    }

    func send(_ number: Int, _ request: Request) {
        let line = "\(number) \(request.line)"
        note("asked", line)
        let bytes = Array("\(line)\n".utf8)
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress! + sent, $0.count - sent, Int32(MSG_NOSIGNAL))
            }
            // Of a program that has ended, the end of its answers tells.
            guard count > 0 || errno == EINTR else { return }
            sent += max(0, count)
        }
    }

    /// Returns the answers that have come; `nil` once the program has ended and all of them were taken.
    func receive(within milliseconds: Int32) -> [(number: Int, words: ArraySlice<Substring>)]? {
        var descriptor = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        guard poll(&descriptor, 1, milliseconds) > 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = bytes.withUnsafeMutableBytes { read(socket, $0.baseAddress, $0.count) }
        guard count > 0 else { return nil }
        return buffer.take(bytes.prefix(count)).compactMap { line in
            note("answered", line)
            let words = line.split(separator: " ")
            return words.first.flatMap { Int($0) }.map { ($0, words.dropFirst()) }
        }
    }

    func crash() {
        note("killed", "process \(pid)")
        kill(pid, SIGKILL)
    }

    /// Waits until the process has ended.
    ///
    /// - Returns: exit status; the negative number of the signal that ended it.
    func reap() -> Int32 {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        isReaped = true
        return status & 0x7f == 0 ? status >> 8 & 0xff : -(status & 0x7f)
    }
}
