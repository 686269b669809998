import Foundation

/// A port of 127.0.0.1 that accepts connections and never answers.
package final class SilentPort: Sendable {
    package let port: Int
    private let socket: Int32

    package init() throws { (socket, port) = try Loopback.listen() }

    deinit { close(socket) }
}

/// Sits between clients and a server with TLS, and ends connections in the middle of the TLS handshake.
package final class HandshakeCutter: @unchecked Sendable {
    // `@unchecked Sendable` is correct: `isCutting` and `count` are used only while the lock is held.
    package let port: Int
    private let socket: Int32
    private let target: Int
    private let lock = NSLock()
    private var isCutting = true
    private var count = 0

    package init(before server: PostgresServer) throws {
        target = server.port
        (socket, port) = try Loopback.listen()
        Thread.detachNewThread { [socket, weak self] in
            while true {
                let client = accept(socket, nil, nil)
                guard client >= 0 else { return }
                Thread.detachNewThread { [weak self] in
                    self?.serve(client)
                    close(client)
                }
            }
        }
    }

    deinit {
        shutdown(socket, Int32(SHUT_RDWR))
        close(socket)
    }

    /// How many handshakes were cut.
    package var cuts: Int { locked { count } }

    /// Lets later connections pass.
    package func letPass() { locked { isCutting = false } }

    private func serve(_ client: Int32) {
        guard locked({ isCutting }) else { return pass(client) }
        var buffer = [UInt8](repeating: 0, count: 512)
        // Reads the request for TLS, sends a consent, and reads the client's first message.
        guard read(client, &buffer, 8) == 8, Loopback.send([UInt8(ascii: "S")], to: client),
            read(client, &buffer, 512) > 0
        else { return }
        locked { count += 1 }
    }

    private func pass(_ client: Int32) {
        guard let server = try? Loopback.connect(to: target) else { return }
        let isOver = DispatchSemaphore(value: 0)
        for (source, sink) in [(client, server), (server, client)] {
            Thread.detachNewThread {
                var buffer = [UInt8](repeating: 0, count: 65_536)
                while true {
                    let size = read(source, &buffer, buffer.count)
                    guard size > 0, Loopback.send(buffer.prefix(size), to: sink) else { break }
                }
                shutdown(sink, Int32(SHUT_RDWR))
                isOver.signal()
            }
        }
        for _ in 0..<2 { isOver.wait() }
        close(server)
    }

    private func locked<Value>(_ body: () -> Value) -> Value {
        lock.lock()
        defer { lock.unlock() }
        return body()
    }
}

/// Sockets on 127.0.0.1.
private enum Loopback {
    static func listen() throws -> (socket: Int32, port: Int) {
        let socket = try newSocket()
        var (address, length) = (address(of: 0), socklen_t(MemoryLayout<sockaddr_in>.size))
        let listens = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(socket, pointer, length) == 0 && Foundation.listen(socket, 64) == 0
                    && getsockname(socket, pointer, &length) == 0
            }
        }
        guard listens else { throw PostgresServerError("no port is free on 127.0.0.1") }
        return (socket, Int(UInt16(bigEndian: address.sin_port)))
    }

    static func connect(to port: Int) throws -> Int32 {
        let socket = try newSocket()
        var address = address(of: port)
        let connects = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                Foundation.connect(socket, pointer, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard connects else {
            close(socket)
            throw PostgresServerError("can't connect to port \(port)")
        }
        return socket
    }

    /// Returns whether all bytes were sent.
    static func send(_ bytes: some Collection<UInt8>, to socket: Int32) -> Bool {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes { Foundation.send(socket, $0.baseAddress, $0.count, noSignal) }
            guard sent > 0 else { return false }
            rest = rest.dropFirst(sent)
        }
        return true
    }

    private static func newSocket() throws -> Int32 {
        #if canImport(Darwin)
            let socket = socket(AF_INET, SOCK_STREAM, 0)
        #else
            let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        #endif
        guard socket >= 0 else { throw PostgresServerError("no socket can be made") }
        return socket
    }

    private static func address(of port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
    }

    #if canImport(Darwin)
        private static let noSignal: Int32 = 0
    #else
        private static let noSignal = Int32(MSG_NOSIGNAL)
    #endif
}
