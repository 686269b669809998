import CommandRunner
import Foundation
import TenureCore
import TestTransport
import Testing

/// A server on a free loopback port. It reads one request from each connection, sends the next of its responses, and
/// hangs up.
struct FixedAnswers {
    let port: Int
    private let received = Locked<[String]>([])

    /// The heads of the received requests, each with its JSON.
    var requests: [String] { received.withLock { $0 } }

    init(_ answers: String...) throws {
        let (listener, port) = try listenOnLoopback()
        self.port = port
        let received = received
        Thread.detachNewThread {
            for (index, answer) in answers.enumerated() {
                let connection = accept(listener, nil, nil)
                if index == answers.count - 1 { close(listener) }
                guard connection >= 0 else { return }
                defer { close(connection) }
                guard let request = Self.request(from: connection) else { continue }
                received.withLock { $0.append(request) }
                let bytes = Array(answer.utf8)
                _ = bytes.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, 0) }
            }
        }
    }

    /// Runs a command that sends its requests to this server, with an admin key.
    func run(_ arguments: [String], keyFile: String) async throws -> Command.Result {
        try await Command.run(arguments + ["--service", "http://127.0.0.1:\(port)", "--key-file", keyFile])
    }

    /// Returns the JSON object in a received request.
    static func body(of request: String) throws -> [String: Any] {
        let end = try #require(request.range(of: "\r\n\r\n")).upperBound
        return try #require(try JSONSerialization.jsonObject(with: Data(request[end...].utf8)) as? [String: Any])
    }

    /// A response with JSON.
    static func json(_ json: String, status: String = "200 OK") -> String {
        let head = ["HTTP/1.1 \(status)", "Content-Type: application/json", "Content-Length: \(json.utf8.count)"]
        return (head + ["Connection: close"]).joined(separator: "\r\n") + "\r\n\r\n" + json
    }

    /// Reads a request to the end of its JSON, or of its head if it has no body. Nil if the client hangs up before.
    private static func request(from connection: Int32) -> String? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var text = ""
        while true {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            text += String(decoding: buffer[..<count], as: UTF8.self)
            guard let end = text.range(of: "\r\n\r\n") else { continue }
            let fields = text[..<end.lowerBound].lowercased().components(separatedBy: "\r\n")
            if fields.contains(where: { $0.hasPrefix("transfer-encoding:") }) {
                if text.hasSuffix("0\r\n\r\n") { return text }
            } else {
                let length = fields.first { $0.hasPrefix("content-length:") }?.split(separator: ":").last
                let isEmpty = length.map { $0.trimmingCharacters(in: .whitespaces) == "0" } ?? true
                if isEmpty || text.hasSuffix("}") { return text }
            }
        }
    }
}
