import Foundation

/// A TCP connection to this machine, for clients that send bytes which an HTTP library wouldn't.
package final class RawConnection: Sendable {
    private let descriptor: Int32

    #if canImport(Glibc)
        private static let openFiles = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let openFiles = RLIMIT_NOFILE
    #endif

    /// The limit of open files in effect, and the maximum to which this process may raise it.
    private static var fileLimit: rlimit? {
        var limit = rlimit()
        return getrlimit(openFiles, &limit) == 0 ? limit : nil
    }

    /// The number of files to which `raiseLimit` can raise the limit.
    package static var maximumFiles: Int { Int(clamping: fileLimit?.rlim_max ?? 0) }

    /// Raises the limit of open files to the system's maximum, for many connections.
    package static func raiseLimit() {
        guard var limit = fileLimit else { return }
        limit.rlim_cur = min(limit.rlim_max, 1 << 20)
        setrlimit(openFiles, &limit)
    }

    /// Throws if no process listens on the port.
    package init(port: Int, receiveBuffer: Int32? = nil) throws {
        #if canImport(Glibc)
            // A process that another test starts must not inherit the connection and keep it open.
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        #else
            descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        guard descriptor >= 0 else { throw CocoaError(.fileReadUnknown) }
        if var size = receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout.size(ofValue: size)))
        }
        // A timeout, so that a test that waits for bytes which never come fails instead of hanging.
        var timeout = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout.size(ofValue: timeout)))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout.size(ofValue: timeout)))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
        let descriptor = descriptor
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw CocoaError(.fileReadUnknown) }
    }

    deinit { close(descriptor) }

    /// Returns whether all bytes were sent. The other end may have closed the connection.
    @discardableResult
    package func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes { Foundation.send(descriptor, $0.baseAddress, $0.count, Self.noSignal) }
            guard sent > 0 else { return false }
            rest = rest.dropFirst(sent)
        }
        return true
    }

    /// Sends a text on a separate thread, because sending blocks while the other end reads nothing.
    package func sent(_ text: String) async -> Bool {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [self] in continuation.resume(returning: send(text)) }
        }
    }

    @discardableResult
    package func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// Sends a text `times` times, with a pause of `pause` seconds after each time. This runs on a separate thread,
    /// because a task might have to wait for the tasks of a service in this process.
    package func send(_ text: String, times: Int, pause: Double) async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [self] in
                for _ in 0..<times where send(text) { Thread.sleep(forTimeInterval: pause) }
                continuation.resume()
            }
        }
    }

    /// Closes the sending side. Responses can still be read.
    package func closeSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Returns everything that is received until the other end closes the connection, or until `end` is received. Nil
    /// if nothing is received for a minute.
    package func received(until end: String? = nil) async -> String? {
        // This blocks a separate thread, because a server in this process needs the threads of Swift's tasks.
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [self] in continuation.resume(returning: receive(until: end)) }
        }
    }

    /// Waits for bytes, and returns at most `limit` of them. Nil if the other end has closed the connection, or if
    /// nothing is received for a minute.
    package func receivedPart(_ limit: Int) async -> [UInt8]? {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [self] in
                var chunk = [UInt8](repeating: 0, count: limit)
                let count = recv(descriptor, &chunk, limit, 0)
                continuation.resume(returning: count > 0 ? Array(chunk[..<count]) : nil)
            }
        }
    }

    /// Sends a text, reads `times` parts of at most `limit` bytes with a pause of `pause` seconds after each, and then
    /// everything until the other end closes the connection. Nil if nothing is received for a minute.
    ///
    /// All of this runs on a separate thread. A task might have to wait longer between two parts than a service waits
    /// for a slow client.
    package func send(_ text: String, readingParts times: Int, of limit: Int, pause: Double) async -> String? {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [self] in
                send(text)
                var first: [UInt8] = []
                var chunk = [UInt8](repeating: 0, count: limit)
                for _ in 0..<times {
                    first += chunk[..<max(0, recv(descriptor, &chunk, limit, 0))]
                    Thread.sleep(forTimeInterval: pause)
                }
                let rest = receive(until: nil)
                continuation.resume(returning: rest.map { String(decoding: first, as: UTF8.self) + $0 })
            }
        }
    }

    /// Reads at most `limit` of the bytes that have arrived, without waiting. Returns the number of bytes.
    package func readAvailable(_ limit: Int) -> Int {
        var chunk = [UInt8](repeating: 0, count: limit)
        return max(0, recv(descriptor, &chunk, limit, Int32(MSG_DONTWAIT)))
    }

    private func receive(until end: String?) -> String? {
        var all: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &chunk, chunk.count, 0)
            if count < 0, errno == EAGAIN || errno == EWOULDBLOCK { return nil }
            // A connection reset ends the text, too.
            if count > 0 { all += chunk[..<count] }
            guard count <= 0 || end != nil else { continue }
            let text = String(decoding: all, as: UTF8.self)
            if count <= 0 || end.map(text.contains) == true { return text }
        }
    }

    #if canImport(Glibc)
        private static let noSignal = Int32(MSG_NOSIGNAL)
    #else
        private static let noSignal: Int32 = 0
    #endif
}
