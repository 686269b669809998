import Foundation

/// An nginx that serves a folder on a free port.
///
/// It doesn't use `sendfile`, which sends a file without reading it into the process: Tenure's service reads what it
/// sends, too.
final class Nginx {
    let port: Int
    private let process = Process()
    private let logPath: String

    /// - Parameter state: a folder for nginx's configuration, logs and temporary files.
    init(serving folder: String, state: String) throws {
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
        port = try Loopback.freePort()
        logPath = state + "/access.log"
        // As root, nginx would otherwise serve files as a user who may not read the folder.
        let userDirective = getuid() == 0 ? "user root;" : ""
        let folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "\($0)_temp_path \(state)/\($0);" }.joined(separator: "\n")
        let configuration = """
            daemon off;
            \(userDirective)
            worker_processes auto;
            pid \(state)/nginx.pid;
            error_log \(state)/error.log;
            events { worker_connections 4096; }
            http {
                log_format sent '$bytes_sent';
                access_log \(logPath) sent;
                sendfile off;
                default_type application/octet-stream;
                \(folders)
                server { listen 127.0.0.1:\(port); location / { root \(folder); } }
            }
            """
        try Data(configuration.utf8).write(to: URL(fileURLWithPath: state + "/nginx.conf"))
        let path = ["/usr/sbin/nginx", "/usr/bin/nginx", "/usr/local/sbin/nginx", "/opt/homebrew/bin/nginx"]
            .first { FileManager.default.isExecutableFile(atPath: $0) }
        guard let path else { throw BenchmarkFailure("there is no nginx; `make bench` installs it") }
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = ["-p", state, "-c", state + "/nginx.conf", "-e", state + "/error.log"]
        process.standardInput = FileHandle.nullDevice
        try process.run()
        for _ in 0..<200 {
            if (try? Loopback(port: port)) != nil { return }
            usleep(25_000)
        }
        throw BenchmarkFailure("nginx didn't accept a connection within 5 seconds; see \(state)/error.log")
    }

    deinit {
        process.terminate()
        process.waitUntilExit()
    }

    var url: URL {
        get throws {
            guard let url = URL(string: "http://127.0.0.1:\(port)") else { throw URLError(.badURL) }
            return url
        }
    }

    /// Bytes of all responses so far, with their heads.
    var bytesSent: Int {
        get throws {
            try String(contentsOfFile: logPath, encoding: .utf8).split(separator: "\n").reduce(0) {
                $0 + (Int($1) ?? 0)
            }
        }
    }

}

/// A TCP connection to this machine, for one HTTP request.
final class Loopback: Sendable {
    private let descriptor: CInt

    /// - Parameter receiveBuffer: the size of the system's receive buffer in bytes; nil for the default.
    init(port: Int, receiveBuffer: CInt? = nil) throws {
        descriptor = socket(AF_INET, Self.stream, 0)
        guard descriptor >= 0 else { throw Self.failure("open a socket") }
        if var size = receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<CInt>.size))
        }
        let connected = Self.withAddress(port) { connect(descriptor, $0, $1) }
        // If this throws, `deinit` closes the descriptor.
        guard connected == 0 else { throw Self.failure("connect to port \(port)") }
    }

    deinit { close(descriptor) }

    /// Sends a GET request.
    func ask(for path: String) throws {
        let request = Array("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".utf8)
        guard send(descriptor, request, request.count, 0) == request.count else { throw Self.failure("send a request") }
    }

    /// Reads and discards everything until the server closes the connection. Returns the number of bytes, with the
    /// head.
    func drain(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        var total = 0
        while case let count = recv(descriptor, buffer.baseAddress, buffer.count, 0), count > 0 { total += count }
        return total
    }

    /// Reads and discards at most `limit` bytes that have arrived, without waiting. Returns their number: 0 if the
    /// server closed the connection, and nil if nothing has arrived.
    func readAvailable(_ limit: Int, into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        let count = recv(descriptor, buffer.baseAddress, min(limit, buffer.count), CInt(MSG_DONTWAIT))
        return count >= 0 ? count : nil
    }

    /// Returns a port that is free now.
    static func freePort() throws -> Int {
        let descriptor = socket(AF_INET, stream, 0)
        defer { close(descriptor) }
        guard withAddress(0, { bind(descriptor, $0, $1) }) == 0 else { throw failure("bind a socket") }
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let named = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard named == 0 else { throw failure("read the port of a socket") }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// The failure of the last system call, by `errno`.
    private static func failure(_ action: String) -> BenchmarkFailure {
        BenchmarkFailure("can't \(action) (\(String(cString: strerror(errno))))")
    }

    private static func withAddress(
        _ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt
    ) -> CInt {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    #if canImport(Glibc)
        private static let stream = CInt(SOCK_STREAM.rawValue)
    #else
        private static let stream = SOCK_STREAM
    #endif
}
