import Foundation
import TenureCore
import TenureHTTP
import TestTransport

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// An HTTP server on a free port of this machine. It responds to each path as a test says, late or never, and closes
/// the connection after each response.
final class TestServer: Sendable {
    /// What the server responds to a path, and after how many seconds.
    struct Reply: Sendable {
        /// Nil: the server holds the connection and never responds.
        var delay: Double? = 0
        var text = ""
        /// Whether the server closes the connection after the text.
        var closes = true

        static let never = Reply(delay: nil)

        static func status(_ status: String, headers: [String] = [], body: String = "", delay: Double = 0) -> Reply {
            let head = ["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)", "Connection: close"] + headers
            return Reply(delay: delay, text: head.joined(separator: "\r\n") + "\r\n\r\n" + body)
        }
    }

    let url: URL
    let port: UInt16
    private let reply: @Sendable (String) -> Reply
    private let state = Locked(State())

    private struct State: Sendable {
        var connections = 0
        var heads: [String] = []
        var isStopped = false
    }

    /// - Parameter reply: what the server responds to a path.
    init(_ reply: @escaping @Sendable (_ path: String) -> Reply) throws {
        self.reply = reply
        let (listener, port) = try listenOnLoopback()
        guard let url = URL(string: "http://127.0.0.1:\(port)") else { throw CannotListen() }
        self.port = UInt16(port)
        self.url = url
        Thread.detachNewThread { [self] in serve(listener) }
    }

    /// Connections that clients have opened and not closed.
    var connections: Int { state.withLock { $0.connections } }
    /// The request lines and headers of all requests so far.
    var heads: [String] { state.withLock { $0.heads } }

    func stop() { state.withLock { $0.isStopped = true } }

    /// The sockets of this process that are connected to this server.
    var clientSockets: Int {
        (0..<Int32(4_096)).filter { descriptor in
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isConnected = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) == 0 }
            }
            return isConnected && address.sin_family == sa_family_t(AF_INET)
                && UInt16(bigEndian: address.sin_port) == port
        }.count
    }

    private struct Connection {
        var received: [UInt8] = []
        var due: Date?
        var text = ""
        var closes = true
    }

    private func serve(_ listener: Int32) {
        var connections: [Int32: Connection] = [:]
        func close(_ descriptor: Int32) {
            connections[descriptor] = nil
            _ = shutdown(descriptor, Int32(SHUT_RDWR))
            #if canImport(Glibc)
                _ = Glibc.close(descriptor)
            #else
                _ = Darwin.close(descriptor)
            #endif
        }
        while !state.withLock({ $0.isStopped }) {
            var polled = ([listener] + connections.keys).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            _ = poll(&polled, nfds_t(polled.count), connections.values.contains { $0.due != nil } ? 1 : 20)
            for event in polled where event.revents != 0 {
                if event.fd == listener {
                    let descriptor = accept(listener, nil, nil)
                    if descriptor >= 0 { connections[descriptor] = Connection() }
                } else if !receive(event.fd, &connections) {
                    close(event.fd)
                }
            }
            for (descriptor, connection) in connections {
                guard let due = connection.due, due <= Date() else { continue }
                let bytes = Array(connection.text.utf8)
                #if canImport(Glibc)
                    _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
                #else
                    _ = send(descriptor, bytes, bytes.count, 0)
                #endif
                if connection.closes { close(descriptor) } else { connections[descriptor]?.due = nil }
            }
            let count = connections.count
            state.withLock { $0.connections = count }
        }
        for descriptor in connections.keys { close(descriptor) }
        close(listener)
    }

    /// Reads the bytes that have arrived. Returns false if the client has closed the connection.
    private func receive(_ descriptor: Int32, _ connections: inout [Int32: Connection]) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0, var connection = connections[descriptor] else { return false }
        connection.received += buffer[..<count]
        let text = String(decoding: connection.received, as: UTF8.self)
        // Requests here have short bodies, which arrive with the head; no reply depends on them.
        if connection.due == nil, connection.text.isEmpty, let end = text.range(of: "\r\n\r\n") {
            let head = String(text[..<end.lowerBound])
            let reply = reply(head.split(separator: " ").dropFirst().first.map(String.init) ?? "")
            connection.due = reply.delay.map { Date(timeIntervalSinceNow: $0) }
            connection.text = reply.text
            connection.closes = reply.closes
            state.withLock { $0.heads.append(head) }
        }
        connections[descriptor] = connection
        return true
    }
}
