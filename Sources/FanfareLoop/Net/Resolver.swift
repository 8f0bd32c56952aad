internal import CFanfareUV
internal import FanfareThreads

#if canImport(Glibc)
internal import Glibc
#endif

/// Resolves host names, without a cache, each name on its own thread. So a name server can block neither a loop, not even
/// while it closes, nor the end of the process, nor the look-up of another name. Any thread.
package final class Resolver: Sendable {
    /// Function that resolves a name; it may block for any time. Returns at least one address, in the order in which they
    /// should be tried.
    package typealias Query =
        @Sendable (_ host: String, _ port: UInt16) throws(LoopError) -> [SocketAddress]
    package typealias Answer = Result<[SocketAddress], LoopError>

    /// The system's resolver: files, DNS, and the order of RFC 6724.
    package static let system = Resolver { (host, port) throws(LoopError) in try askSystem(host: host, port: port) }

    private struct Name: Hashable {
        let host: String
        let port: UInt16
    }

    private let query: Query
    /// Look-ups that wait, by name. A look-up of a name that is already being resolved joins the list and replaces cancelled look-ups.
    /// A name server that does not answer therefore blocks one thread per name and takes no growing memory, however often the name is
    /// requested.
    private let waiting = Locked<[Name: [Lookup.Mailbox]]>([:])

    package init(_ query: @escaping Query) { self.query = query }

    /// A pending look-up. The program may drop it, or `cancel` it to discard the answer.
    package final class Lookup {
        /// State that the resolving thread shares with the waiting loop.
        fileprivate final class Mailbox: Sendable {
            let answer = Locked<Answer?>(nil)
            let isCancelled = Locked(false)
            let wakeup: WakeupSignal
            init(_ wakeup: WakeupSignal) { self.wakeup = wakeup }

            func put(_ found: Answer) {
                answer.withLock { $0 = found }
                wakeup.signal()
            }
        }

        private let wakeup: Wakeup
        fileprivate let mailbox: Mailbox

        fileprivate init(loop: Loop, done: @escaping (Answer) -> Void) throws(LoopError) {
            // Both exist before an answer can wake the loop; the callback owns them until it closes its own handle.
            var awaited: (wakeup: Wakeup, mailbox: Mailbox)?
            wakeup = try Wakeup(loop: loop) {
                guard let it = awaited, let answer = it.mailbox.answer.withLock({ $0 }) else { return }
                awaited = nil
                it.wakeup.close()
                done(answer)
            }
            mailbox = Mailbox(wakeup.signal)
            awaited = (wakeup, mailbox)
        }

        /// Cancels the look-up: `done` will not be called. Loop's thread only; safe at any time.
        package func cancel() {
            mailbox.isCancelled.withLock { $0 = true }
            wakeup.close()
        }
    }

    /// Resolves a name and calls `done` on the loop, never before this returns. A numeric address needs no name server.
    @discardableResult
    package func resolve(
        loop: Loop, host: String, port: UInt16, done: @escaping (Answer) -> Void
    ) throws(LoopError) -> Lookup {
        let lookup = try Lookup(loop: loop, done: done)
        if let address = SocketAddress(ip: host, port: port) {
            lookup.mailbox.put(.success([address]))
        } else {
            ask(Name(host: host, port: port), for: lookup.mailbox)
        }
        return lookup
    }

    private func ask(_ name: Name, for mailbox: Lookup.Mailbox) {
        let isFirst = waiting.withLock { waiting in
            let isBeingAsked = waiting[name] != nil
            waiting[name, default: []].removeAll { $0.isCancelled.withLock { $0 } }
            waiting[name]?.append(mailbox)
            return !isBeingAsked
        }
        guard isFirst else { return }
        do throws(LoopError) {
            try DetachedThread.run(name: "resolver") { [self] in
                do throws(LoopError) {
                    answer(name, .success(try query(name.host, name.port)))
                } catch {
                    answer(name, .failure(error))
                }
            }
        } catch {
            answer(name, .failure(error))
        }
    }

    /// Number of waiting look-ups, including cancelled ones that the next look-up of their name has not yet replaced.
    var waitingCount: Int { waiting.withLock { $0.values.reduce(0) { $0 + $1.count } } }

    private func answer(_ name: Name, _ found: Answer) {
        let mailboxes = waiting.withLock { $0.removeValue(forKey: name) } ?? []
        for mailbox in mailboxes { mailbox.put(found) }
    }

    /// Blocks until the system's resolver answers; for start-up, and for threads that do nothing else.
    package static func askSystem(host: String, port: UInt16) throws(LoopError) -> [SocketAddress] {
        if let address = SocketAddress(ip: host, port: port) { return [address] }
        let place = "\(host):\(port)"
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = AF_UNSPEC
        unsafe hints.ai_socktype = CInt(SOCK_STREAM.rawValue)  // otherwise each address comes once per socket type
        var list: UnsafeMutablePointer<addrinfo>?
        let code = unsafe getaddrinfo(host, String(port), &hints, &list)
        defer { if unsafe list != nil { unsafe freeaddrinfo(list) } }
        guard code == 0 else {
            let isOfSystem = code == EAI_SYSTEM
            throw unsafe LoopError(
                isOfSystem && [EMFILE, ENFILE].contains(errno) ? .tooManyFiles : .nameNotFound, call: "getaddrinfo",
                place: place,
                reason: isOfSystem ? String(cString: strerror(errno)) : reason(of: code))
        }
        var addresses: [SocketAddress] = []
        var next = unsafe list
        while let entry = unsafe next {
            if let address = unsafe entry.pointee.ai_addr.flatMap({ unsafe SocketAddress($0) }) {
                addresses.append(address)
            }
            unsafe next = entry.pointee.ai_next
        }
        guard !addresses.isEmpty else {
            throw LoopError(.nameNotFound, call: "getaddrinfo", place: place, reason: "no address")
        }
        return addresses
    }

    private static func reason(of code: CInt) -> String {
        switch code {
        case EAI_NONAME: "no such host"
        case EAI_AGAIN: "the name server does not answer"
        default: unsafe String(cString: gai_strerror(code))
        }
    }
}
