import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import TenureCore

/// A webhook receiver on a free loopback port. The test decides how it answers, down to the bytes.
final class Receiver: Sendable {
    /// A request that the receiver got.
    struct Request: Sendable {
        let line: String
        /// The header fields, with lowercase names.
        let headers: [String: String]
        let body: [UInt8]

        var json: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any] ?? [:]
        }

        var type: String? { json["type"] as? String }
        var id: String? { json["id"] as? String }
        var data: [String: Any] { json["data"] as? [String: Any] ?? [:] }
        var customer: [String: Any] { json["customer"] as? [String: Any] ?? [:] }
    }

    /// How the receiver responds to a request.
    enum Answer: Sendable {
        case text(String)
        /// Reads the request and doesn't answer.
        case silence
        case hangUp
        /// Begins a valid response that never ends.
        case endless

        static let ok = status(200)

        static func status(_ status: Int, _ headers: String...) -> Answer {
            .text("HTTP/1.1 \(status) Word\r\n" + headers.map { $0 + "\r\n" }.joined() + "Content-Length: 0\r\n\r\n")
        }
    }

    let port: Int
    /// The requests, as they arrive.
    let requests: AsyncStream<Request>
    private let channel: any Channel
    private let log: RequestLog

    /// - Parameter answer: returns the answer to a request. Its second argument is the number of earlier requests.
    init(
        port: Int = 0, tls: NIOSSLContext? = nil,
        _ answer: @escaping @Sendable (Request, Int) -> Answer = { _, _ in .ok }
    ) async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Request.self)
        let log = RequestLog(continuation)
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
                    try channel.pipeline.syncOperations.addHandler(ReceiverHandler(log, answer))
                }
            }
            .bind(host: "127.0.0.1", port: port).get()
        self.port = channel.localAddress?.port ?? 0
        self.log = log
        requests = stream
    }

    /// All requests that arrived so far.
    var received: [Request] { log.all }

    /// Stops the receiver and closes all connections, as if its process was killed.
    func close() async throws {
        try await channel.close()
        for connection in log.connections { connection.close(promise: nil) }
    }
}

private final class RequestLog: Sendable {
    private let requests = Locked<[Receiver.Request]>([])
    private let channels = Locked<[any Channel]>([])
    private let continuation: AsyncStream<Receiver.Request>.Continuation

    init(_ continuation: AsyncStream<Receiver.Request>.Continuation) {
        self.continuation = continuation
    }

    var all: [Receiver.Request] { requests.withLock { $0 } }
    var connections: [any Channel] { channels.withLock { $0 } }

    func append(_ connection: any Channel) { channels.withLock { $0.append(connection) } }

    /// Stores a request, and returns the number of earlier requests.
    func append(_ request: Receiver.Request) -> Int {
        requests.withLock { requests in
            requests.append(request)
            continuation.yield(request)
            return requests.count - 1
        }
    }
}

// Only the channel's event loop uses the handler, so the handler needs no lock.
private final class ReceiverHandler: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let log: RequestLog
    private let answer: @Sendable (Receiver.Request, Int) -> Receiver.Answer
    private var bytes: [UInt8] = []
    private var isDone = false

    init(_ log: RequestLog, _ answer: @escaping @Sendable (Receiver.Request, Int) -> Receiver.Answer) {
        self.log = log
        self.answer = answer
    }

    func channelActive(context: ChannelHandlerContext) {
        log.append(context.channel)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        bytes += unwrapInboundIn(data).readableBytesView
        guard !isDone, let request else { return }
        isDone = true
        switch answer(request, log.append(request)) {
        case .text(let text): context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
        case .silence: break
        case .hangUp: context.close(promise: nil)
        case .endless:
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: head)), promise: nil)
            pour(into: context.channel)
        }
    }

    /// Sends one chunk after the other, as long as the client reads.
    private func pour(into channel: any Channel) {
        let chunk = ByteBuffer(string: "10000\r\n" + String(repeating: "x", count: 65_536) + "\r\n")
        channel.writeAndFlush(chunk).whenSuccess { [self] in self.pour(into: channel) }
    }

    /// The request, once all of its bytes have arrived.
    private var request: Receiver.Request? {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        var lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let line = lines.removeFirst()
        var headers: [String: String] = [:]
        for line in lines {
            let parts = line.split(separator: ":", maxSplits: 1)
            headers[parts[0].lowercased()] = parts.last?.trimmingCharacters(in: .whitespaces)
        }
        let body = bytes[end.upperBound...]
        guard let length = headers["content-length"].flatMap({ Int($0) }), body.count >= length else { return nil }
        return Receiver.Request(line: line, headers: headers, body: Array(body.prefix(length)))
    }
}
