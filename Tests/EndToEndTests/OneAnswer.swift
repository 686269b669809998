import Foundation
import TestTransport

/// A server on a free loopback port that reads one JSON request, sends one response, and hangs up.
struct OneAnswer {
    let port: Int

    init(_ answer: String) throws {
        let (listener, port) = try listenOnLoopback()
        self.port = port
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
