import Foundation
import TenureCore
import TenureHTTP
import TestTransport

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A web server for a folder, on a free port. It counts sent bytes, and injects a test's faults into range requests.
final class ContentServer: Sendable {
    /// What goes wrong with a response to a range request.
    enum Fault: Sendable {
        /// Closes the connection after some bytes of the body.
        case cut(after: Int)
        /// Sends some bytes and then nothing, with an open connection.
        case stall(after: Int)
        /// Changes a byte of the body.
        case flip(at: Int)
        case status(Int, headers: [String] = [])
        /// Answers 200 with the whole file.
        case ignoreRange
        case wrongRange
        /// Sends the range one byte later, with a matching `Content-Range`.
        case shiftedRange
        /// Waits before the response, in seconds.
        case delay(Double)
    }

    private struct State: Sendable {
        var faults: [Fault] = []
        var sent = 0
        var ranges: [String] = []
        var isStopped = false
        var pace: UInt32 = 0
        /// Nothing is sent after so many bytes.
        var limit: Int?
        /// So many requests for ranges, counted from the first, get no more bytes.
        var closed = 0

        var isHeld: Bool { !isStopped && limit.map { sent >= $0 } ?? false }
    }

    let url: URL
    private let folder: String
    private let state = Locked(State())

    init(folder: String, faults: [Fault] = []) throws {
        self.folder = folder
        let (listener, port) = try listenOnLoopback()
        guard let url = URL(string: "http://127.0.0.1:\(port)") else { throw CannotListen() }
        self.url = url
        state.withLock { $0.faults = faults }
        Thread.detachNewThread { [self] in
            while !state.withLock({ $0.isStopped }) {
                var polled = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
                guard poll(&polled, 1, 20) > 0 else { continue }
                let connection = accept(listener, nil, nil)
                var size: Int32 = 65_536
                setsockopt(connection, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
                Thread.detachNewThread { [self] in
                    serve(connection)
                    shutdown(connection, Int32(SHUT_RDWR))
                    close(connection)
                }
            }
            close(listener)
        }
    }

    func stop() { state.withLock { $0.isStopped = true } }

    /// The bytes sent in responses to range requests.
    var sent: Int { state.withLock { $0.sent } }
    var ranges: [String] { state.withLock { $0.ranges } }
    /// Where the ranges begin, since the count was reset.
    var starts: [Int64] { ranges.compactMap { $0.split(separator: "-").first.flatMap { Int64($0) } } }
    var faultsLeft: Int { state.withLock { $0.faults.count } }
    func add(_ faults: [Fault]) { state.withLock { $0.faults += faults } }
    func resetCount() { state.withLock { ($0.sent, $0.ranges) = (0, []) } }
    /// Waits after each 16 KB, in microseconds.
    func slowDown(_ microseconds: UInt32) { state.withLock { $0.pace = microseconds } }
    /// Sends nothing more, on open connections, once it has sent so many bytes. Nil continues.
    ///
    /// - Parameter requests: how many of the first requests for ranges are closed instead.
    func hold(after bytes: Int?, closing requests: Int = 0) {
        state.withLock { ($0.limit, $0.closed) = (bytes, requests) }
    }

    private func serve(_ connection: Int32) {
        var received = [UInt8]()
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while !String(decoding: received, as: UTF8.self).contains("\r\n\r\n") {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            received += buffer[..<count]
        }
        let lines = String(decoding: received, as: UTF8.self).components(separatedBy: "\r\n")
        let target = lines[0].split(separator: " ").dropFirst().first.map { String($0.dropFirst()) } ?? ""
        let name = target.prefix { $0 != "?" }
        guard let data = FileManager.default.contents(atPath: folder + "/" + name) else {
            return send(connection, "404 Not Found", [], Data())
        }
        let header = lines.first { $0.lowercased().hasPrefix("range: bytes=") }
        guard let range = header.map({ String($0.dropFirst(13)) }) else { return send(connection, "200 OK", [], data) }
        let bounds = range.split(separator: "-").compactMap { Int($0) }
        guard bounds.count == 2, bounds[0] <= bounds[1], bounds[1] < data.count else {
            return send(connection, "416 Range Not Satisfiable", [], Data())
        }
        let (number, fault) = state.withLock { state -> (Int, Fault?) in
            state.ranges.append(range)
            return (state.ranges.count, state.faults.isEmpty ? nil : state.faults.removeFirst())
        }
        var body = data[bounds[0]...bounds[1]]
        let contentRange = "Content-Range: bytes \(range)/\(data.count)"
        switch fault {
        case .status(let status, let headers): return send(connection, "\(status) No", headers, Data())
        case .ignoreRange: return send(connection, "200 OK", [], data, number: number)
        case .wrongRange:
            return send(
                connection, "206 Partial Content", ["Content-Range: bytes 0-\(body.count - 1)/\(data.count + 1)"],
                body, number: number)
        case .shiftedRange:
            let lower = bounds[0] + 1
            let upper = min(bounds[1] + 1, data.count - 1)
            return send(
                connection, "206 Partial Content", ["Content-Range: bytes \(lower)-\(upper)/\(data.count)"],
                data[lower...upper], number: number)
        case .flip(let place):
            body = Data(body)
            if place < body.count { body[place] ^= 1 }
        case .delay(let seconds): usleep(UInt32(seconds * 1e6))
        case .cut, .stall, nil: break
        }
        var limit: Int?
        if case .cut(let count)? = fault { limit = count }
        if case .stall(let count)? = fault { limit = count }
        send(connection, "206 Partial Content", [contentRange], body, limit: limit, number: number)
        guard case .stall? = fault else { return }
        // Until the client closes the connection.
        while recv(connection, &buffer, buffer.count, 0) > 0 {}
    }

    /// - Parameter number: of the request for a range; nil for other requests.
    private func send(
        _ connection: Int32, _ status: String, _ headers: [String], _ body: Data, limit: Int? = nil,
        number: Int? = nil
    ) {
        let head = (["HTTP/1.1 \(status)", "Content-Length: \(body.count)", "Connection: close"] + headers)
            .joined(separator: "\r\n")
        guard sendAll(connection, Data((head + "\r\n\r\n").utf8)) else { return }
        var rest = body.prefix(limit ?? body.count)
        while !rest.isEmpty {
            while number != nil, state.withLock({ $0.isHeld }) { usleep(1000) }
            if let number, state.withLock({ $0.closed }) >= number { return }
            guard sendAll(connection, rest.prefix(16_384)) else { return }
            let count = min(16_384, rest.count)
            let pace = state.withLock { state in
                if number != nil { state.sent += count }
                return state.pace
            }
            if pace > 0 { usleep(pace) }
            rest = rest.dropFirst(16_384)
        }
    }

    private func sendAll(_ connection: Int32, _ data: Data) -> Bool {
        var rest = Array(data)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { bytes in
                #if canImport(Glibc)
                    Glibc.send(connection, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
                #else
                    Darwin.send(connection, bytes.baseAddress, bytes.count, 0)
                #endif
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
