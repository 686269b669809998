import Foundation

/// A server on a free loopback port that reads one JSON request, sends one response, and hangs up.
struct OneAnswer {
    struct CannotListen: Error {}

    let port: Int

    init(_ answer: String) throws {
        #if canImport(Glibc)
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let listener = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 1) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard isListening else { throw CannotListen() }
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread {
            let connection = accept(listener, nil, nil)
            close(listener)
            guard connection >= 0 else { return }
            defer { close(connection) }
            var buffer = [UInt8](repeating: 0, count: 65_536)
            // The request ends with its JSON.
            var last: UInt8?
            while last != UInt8(ascii: "}") {
                let count = recv(connection, &buffer, buffer.count, 0)
                guard count > 0 else { return }
                last = buffer[count - 1]
            }
            let bytes = Array(answer.utf8)
            _ = bytes.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, 0) }
        }
    }
}
