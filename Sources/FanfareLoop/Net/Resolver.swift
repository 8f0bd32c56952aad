internal import CFanfareUV

#if canImport(Glibc)
internal import Glibc
#endif

/// Looks names up with the system's resolver, afresh every time, off the loop's thread.
public enum Resolver {
    /// A look-up on its way; drop it freely, `cancel` it when the answer is not wanted any more.
    public final class Lookup: LoopRequest {
        private let request = UnsafeMutablePointer<uv_getaddrinfo_t>.allocate(capacity: 1)
        private let loop: Loop
        private let place: String
        private var done: ((Result<[SocketAddress], LoopError>) -> Void)?

        fileprivate init(
            loop: Loop, place: String, done: @escaping (Result<[SocketAddress], LoopError>) -> Void
        ) {
            self.loop = loop
            self.place = place
            self.done = done
        }

        deinit { request.deallocate() }

        fileprivate func start(host: String, port: UInt16) throws(LoopError) {
            request.pointee.data = Unmanaged.passUnretained(self).toOpaque()
            let code = Resolver.withHints { uv_getaddrinfo(loop.raw, request, lookupDone, host, String(port), $0) }
            try check(code, "getaddrinfo", at: place)
            loop.requests[ObjectIdentifier(self)] = self
        }

        /// The answer will not be called. Loop's thread only; safe at any time.
        public func cancel() {
            done = nil
            guard loop.requests[ObjectIdentifier(self)] != nil else { return }
            // Refused when the resolver has begun; then `finish` finds nobody to call.
            request.withMemoryRebound(to: uv_req_t.self, capacity: 1) { _ = uv_cancel($0) }
        }

        fileprivate func finish(_ code: CInt, _ found: UnsafeMutablePointer<addrinfo>?) {
            loop.requests[ObjectIdentifier(self)] = nil
            let done = self.done
            self.done = nil
            let addresses = Resolver.takeAddresses(found)
            if code < 0 {
                done?(.failure(LoopError(code: code, call: "getaddrinfo", place: place)))
            } else if addresses.isEmpty {
                done?(.failure(LoopError(.nameNotFound, call: "getaddrinfo", place: place, reason: "no address")))
            } else {
                done?(.success(addresses))
            }
        }
    }

    /// Calls `done` on the loop with at least one address, in the order in which the system wants them tried. A name that is
    /// a numeric address needs no name server, and is also answered from the loop, never before this returns.
    @discardableResult
    public static func resolve(
        loop: Loop, host: String, port: UInt16, done: @escaping (Result<[SocketAddress], LoopError>) -> Void
    ) throws(LoopError) -> Lookup {
        precondition(!loop.isClosed, "a look-up cannot be made on a closed loop")
        let lookup = Lookup(loop: loop, place: "\(host):\(port)", done: done)
        try lookup.start(host: host, port: port)
        return lookup
    }

    /// The same, waiting for the answer. For start-up only: no loop runs meanwhile.
    static func resolveNow(loop: Loop, host: String, port: UInt16) throws(LoopError) -> [SocketAddress] {
        if let address = SocketAddress(ip: host, port: port) { return [address] }
        var request = uv_getaddrinfo_t()
        let code = withHints { uv_getaddrinfo(loop.raw, &request, nil, host, String(port), $0) }
        try check(code, "getaddrinfo", at: "\(host):\(port)")
        return takeAddresses(request.addrinfo)
    }

    private static func withHints(_ body: (UnsafePointer<addrinfo>) -> CInt) -> CInt {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)  // else each address comes once per socket type
        return body(&hints)
    }

    /// Frees the list.
    private static func takeAddresses(_ list: UnsafeMutablePointer<addrinfo>?) -> [SocketAddress] {
        defer { uv_freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var next = list
        while let entry = next {
            if let address = entry.pointee.ai_addr.flatMap({ SocketAddress($0) }) { addresses.append(address) }
            next = entry.pointee.ai_next
        }
        return addresses
    }
}

private func lookupDone(
    _ request: UnsafeMutablePointer<uv_getaddrinfo_t>?, _ code: CInt, _ found: UnsafeMutablePointer<addrinfo>?
) {
    // `start` set the data, and `Loop.requests` keeps the object until `finish`.
    Unmanaged<Resolver.Lookup>.fromOpaque(request!.pointee.data).takeUnretainedValue().finish(code, found)
}
