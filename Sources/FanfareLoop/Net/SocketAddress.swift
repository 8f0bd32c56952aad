internal import CFanfareUV

#if canImport(Glibc)
internal import Glibc
#endif

/// An IPv4 or IPv6 address and a port.
package struct SocketAddress: Sendable, Hashable, CustomStringConvertible {
    /// Address in network order; 4 bytes for IPv4, 16 for IPv6.
    private let bytes: [UInt8]
    /// Scope of a link-local IPv6 address; otherwise 0.
    private let scope: UInt32
    package let port: UInt16

    /// Parses a numeric address such as `127.0.0.1` or `::1`; `nil` for other text.
    package init?(ip: String, port: UInt16) {
        var v4 = sockaddr_in()
        var v6 = sockaddr_in6()
        if unsafe uv_ip4_addr(ip, CInt(port), &v4) == 0 {
            self.init(v4)
        } else if unsafe uv_ip6_addr(ip, CInt(port), &v6) == 0 {
            self.init(v6)
        } else {
            return nil
        }
    }

    private init(_ address: sockaddr_in) {
        bytes = unsafe withUnsafeBytes(of: address.sin_addr) { unsafe Array($0) }
        scope = 0
        port = UInt16(bigEndian: address.sin_port)
    }

    private init(_ address: sockaddr_in6) {
        bytes = unsafe withUnsafeBytes(of: address.sin6_addr) { unsafe Array($0) }
        scope = address.sin6_scope_id
        port = UInt16(bigEndian: address.sin6_port)
    }

    /// Reads a system address; `nil` for families other than IPv4 and IPv6.
    init?(_ address: UnsafePointer<sockaddr>) {
        switch unsafe CInt(address.pointee.sa_family) {
        case AF_INET: unsafe self.init(UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in.self))
        case AF_INET6: unsafe self.init(UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in6.self))
        default: return nil
        }
    }

    package var isIPv6: Bool { bytes.count == 16 }

    /// Passes the address as the system has it: the `sockaddr` of its family, valid during the call.
    package func withSocketAddress<Result>(_ body: (UnsafeRawPointer) -> Result) -> Result {
        var storage = sockaddr_storage()
        return unsafe withUnsafeMutableBytes(of: &storage) { storage in
            if isIPv6 {
                var address = sockaddr_in6()
                address.sin6_family = sa_family_t(AF_INET6)
                address.sin6_port = port.bigEndian
                address.sin6_scope_id = scope
                unsafe withUnsafeMutableBytes(of: &address.sin6_addr) { unsafe $0.copyBytes(from: bytes) }
                unsafe storage.storeBytes(of: address, as: sockaddr_in6.self)
            } else {
                var address = sockaddr_in()
                address.sin_family = sa_family_t(AF_INET)
                address.sin_port = port.bigEndian
                unsafe withUnsafeMutableBytes(of: &address.sin_addr) { unsafe $0.copyBytes(from: bytes) }
                unsafe storage.storeBytes(of: address, as: sockaddr_in.self)
            }
            // `sockaddr_storage` has 128 bytes, so it has a base address, which is aligned for every kind of address.
            return unsafe body(UnsafeRawPointer(storage.baseAddress!))
        }
    }

    /// Address without the port: `127.0.0.1`, `::1`.
    package var ip: String {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { text in
            // The call cannot fail, because the buffer is long enough for both families.
            unsafe bytes.withUnsafeBytes {
                _ = unsafe uv_inet_ntop(isIPv6 ? AF_INET6 : AF_INET, $0.baseAddress, text.baseAddress, text.count)
            }
            return unsafe String(cString: text.baseAddress!)  // the allocation above is not empty
        }
    }

    package var description: String { isIPv6 ? "[\(ip)]:\(port)" : "\(ip):\(port)" }
}
