import Foundation
import TestTransport

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A plain web server for a folder, with byte ranges. It serves one request per connection.
struct FileServer {
    private let folder: String
    private let listener: Int32

    init(folder: String, port: UInt16) throws {
        self.folder = folder
        let (listener, port) = try listenOnLoopback(port: port)
        self.listener = listener
        ContentProcess.say("http://127.0.0.1:\(port)")
    }

    func run() throws {
        while true {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else { continue }
            Thread.detachNewThread {
                serve(connection)
                close(connection)
            }
        }
    }

    private func serve(_ connection: Int32) {
        var received = [UInt8]()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while !String(decoding: received, as: UTF8.self).contains("\r\n\r\n") {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            received += buffer[..<count]
        }
        let lines = String(decoding: received, as: UTF8.self).components(separatedBy: "\r\n")
        let name = lines[0].split(separator: " ").dropFirst().first.map { String($0.dropFirst()) } ?? ""
        let file = open(folder + "/" + name, O_RDONLY | O_CLOEXEC)
        guard file >= 0, !name.contains("/") else {
            return send(connection, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        }
        defer { close(file) }
        let size = Int(lseek(file, 0, Int32(SEEK_END)))
        var (range, head) = (0..<size, "HTTP/1.1 200 OK\r\n")
        if let header = lines.first(where: { $0.lowercased().hasPrefix("range: bytes=") }) {
            let bounds = header.dropFirst(13).split(separator: "-").compactMap { Int($0) }
            guard bounds.count == 2, bounds[0] <= bounds[1], bounds[1] < size else { return }
            range = bounds[0]..<bounds[1] + 1
            head = "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes \(bounds[0])-\(bounds[1])/\(size)\r\n"
        }
        send(connection, head + "Content-Length: \(range.count)\r\nConnection: close\r\n\r\n")
        var offset = range.lowerBound
        while offset < range.upperBound {
            let count = pread(file, &buffer, min(buffer.count, range.upperBound - offset), off_t(offset))
            guard count > 0, sendAll(connection, buffer[..<count]) else { return }
            offset += count
        }
    }

    private func send(_ connection: Int32, _ text: String) { _ = sendAll(connection, Array(text.utf8)[...]) }

    private func sendAll(_ connection: Int32, _ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(connection, $0.baseAddress, $0.count) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
