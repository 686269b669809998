import NIOCore
import NIOPosix

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Looks up the addresses of a webhook's host. Tests replace the look-up.
struct HostResolver: Sendable {
    /// Returns the addresses of a host, with the port. Throws if the host has no address.
    let addresses: @Sendable (_ host: String, _ port: Int) async throws -> [SocketAddress]

    /// The host has no address, or can't be looked up.
    struct UnknownHost: Error {}

    /// The system's resolver. `getaddrinfo` blocks its thread, so it runs on NIO's threads for blocking calls.
    static let system = HostResolver { host, port in
        try await NIOThreadPool.singleton.runIfActive { try resolve(host, port) }
    }

    private static func resolve(_ host: String, _ port: Int) throws -> [SocketAddress] {
        var hints = addrinfo()
        #if canImport(Glibc)
            hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        #else
            hints.ai_socktype = SOCK_STREAM
        #endif
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &list) == 0 else { throw UnknownHost() }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var next = list
        while let entry = next?.pointee {
            next = entry.ai_next
            guard let address = UnsafeRawPointer(entry.ai_addr) else { continue }
            switch entry.ai_family {
            case AF_INET where Int(entry.ai_addrlen) >= MemoryLayout<sockaddr_in>.size:
                addresses.append(SocketAddress(address.loadUnaligned(as: sockaddr_in.self), host: host))
            case AF_INET6 where Int(entry.ai_addrlen) >= MemoryLayout<sockaddr_in6>.size:
                addresses.append(SocketAddress(address.loadUnaligned(as: sockaddr_in6.self), host: host))
            default: continue
            }
        }
        guard !addresses.isEmpty else { throw UnknownHost() }
        return addresses
    }
}
