import Foundation

package struct CannotListen: Error {
    package init() {}
}

/// Returns a socket that listens on a loopback port, and the port.
///
/// - Parameter port: the port; 0 for a free port.
package func listenOnLoopback(port: UInt16 = 0) throws -> (listener: Int32, port: Int) {
    #if canImport(Glibc)
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
        let listener = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    // Lets a later server listen on this port while connections of this server remain. On Linux, both listeners must
    // set the option.
    var isReused: Int32 = 1
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &isReused, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(listener, $0, length) == 0 && listen(listener, 1_024) == 0 && getsockname(listener, $0, &length) == 0
        }
    }
    guard isListening else { throw CannotListen() }
    return (listener, Int(UInt16(bigEndian: address.sin_port)))
}
