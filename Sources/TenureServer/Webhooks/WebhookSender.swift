import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Sends one body to one target, once.
///
/// It resolves the host itself, checks every address, and connects to the one that it checked: a name that means
/// something else a moment later leads nowhere. Nothing of an answer is kept but its status and `Retry-After`.
struct WebhookSender: Sendable {
    let resolver: HostResolver
    private let tls: NIOSSLContext
    var timeouts = Timeouts()

    struct Timeouts: Sendable {
        var connection = TimeAmount.seconds(5)
        /// From the connection to the head of the answer.
        var answer = TimeAmount.seconds(15)
    }

    enum Answer: Sendable, Hashable {
        case status(Int, retryAfter: String?)
        /// Why there is none.
        case none(String)
    }

    /// `trustRoots` nil: those of the system.
    init(resolver: HostResolver = .system, trustRoots: NIOSSLTrustRoots? = nil) throws(ServiceError) {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.allowModernTLSOnly()
        if let trustRoots { configuration.trustRoots = trustRoots }
        do {
            tls = try NIOSSLContext(configuration: configuration)
        } catch {
            throw .failed("no certificates to trust were found; webhooks cannot be sent")
        }
        self.resolver = resolver
    }

    func send(
        _ body: [UInt8], headers: [(String, String)], to target: WebhookTarget, attempt: Int = 1
    ) async -> Answer {
        let addresses: [SocketAddress]
        do {
            addresses = try await resolver.addresses(target.host, target.port)
        } catch {
            return .none("the host `\(target.host)` has no address")
        }
        if let refusal = Self.refusal(of: addresses, for: target) { return .none(refusal) }
        // Another one each time, where the host has several.
        let address = addresses[max(0, attempt - 1) % addresses.count]
        do {
            let head = try await exchange(body, headers, with: target, at: address)
            return .status(Int(head.status.code), retryAfter: head.headers.first(name: "Retry-After"))
        } catch {
            return .none(Self.words(for: error))
        }
    }

    /// Why these addresses are not connected to; nil where one may be.
    static func refusal(of addresses: [SocketAddress], for target: WebhookTarget) -> String? {
        guard !addresses.isEmpty else { return "the host `\(target.host)` has no address" }
        if !target.isEncrypted {
            let isLoopback = addresses.allSatisfy { PublicAddress.isLoopback($0) }
            return isLoopback ? nil : "without TLS only loopback is delivered to"
        }
        guard !target.allowsPrivate else { return nil }
        guard let hidden = addresses.first(where: { !PublicAddress.contains($0) }) else { return nil }
        return "`\(target.host)` leads to \(hidden.ipAddress ?? "an address") in a network that is not public"
    }

    private func exchange(
        _ body: [UInt8], _ headers: [(String, String)], with target: WebhookTarget, at address: SocketAddress
    ) async throws -> HTTPResponseHead {
        var fields = HTTPHeaders([
            ("Host", target.hostHeader), ("Content-Length", String(body.count)), ("Connection", "close"),
            ("User-Agent", "Tenure"), ("Content-Type", "application/json"),
        ])
        fields.add(contentsOf: headers)
        let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: target.path, headers: fields)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let answer = loop.makePromise(of: HTTPResponseHead.self)
        let tls = target.isEncrypted ? tls : nil
        // A certificate of an address names it as such.
        let isName = (try? SocketAddress(ipAddress: target.host, port: target.port)) == nil
        let timeout = timeouts.answer
        do {
            _ = try await ClientBootstrap(group: loop).connectTimeout(timeouts.connection)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let pipeline = channel.pipeline.syncOperations
                        if let tls {
                            try pipeline.addHandler(
                                NIOSSLClientHandler(context: tls, serverHostname: isName ? target.host : nil))
                        }
                        try pipeline.addHTTPClientHandlers()
                        try pipeline.addHandler(WebhookExchange(head, body, answer, timeout: timeout))
                    }
                }
                .connect(to: address).get()
        } catch {
            // No channel answers now.
            answer.fail(error)
        }
        return try await answer.futureResult.get()
    }

    /// In this service's own words: what went wrong may repeat what the other side said.
    private static func words(for error: any Error) -> String {
        switch error {
        case WebhookExchange.Failure.timeout: "it did not answer in time"
        case WebhookExchange.Failure.closed: "it closed the connection without an answer"
        case is NIOSSLExtraError: "its certificate names another host"
        case NIOSSLError.handshakeFailed: "its certificate is not trusted, or it speaks no TLS 1.2"
        case is NIOSSLError, is BoringSSLError: "the encrypted connection failed"
        case ChannelError.connectTimeout: "it did not take the connection in time"
        case let error as IOError where error.errnoCode == ECONNREFUSED: "it refused the connection"
        case is IOError: "it cannot be reached"
        case is HTTPParserError: "what it answered is no HTTP"
        default: "the connection failed"
        }
    }
}

/// One request and the head of its answer, on a connection of its own.
private final class WebhookExchange: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    enum Failure: Error {
        case timeout
        case closed
    }

    private let head: HTTPRequestHead
    private let body: [UInt8]
    private let answer: EventLoopPromise<HTTPResponseHead>
    private let timeout: TimeAmount
    private var clock: Scheduled<Void>?

    init(
        _ head: HTTPRequestHead, _ body: [UInt8], _ answer: EventLoopPromise<HTTPResponseHead>, timeout: TimeAmount
    ) {
        self.head = head
        self.body = body
        self.answer = answer
        self.timeout = timeout
    }

    func channelActive(context: ChannelHandlerContext) {
        let (answer, channel) = (answer, context.channel)
        clock = context.eventLoop.scheduleTask(in: timeout) {
            answer.fail(Failure.timeout)
            channel.close(promise: nil)
        }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: body)))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // The rest is nobody's business, however long it is.
        guard case .head(let head) = unwrapInboundIn(data) else { return }
        answer.succeed(head)
        context.close(promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        answer.fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        clock?.cancel()
        answer.fail(Failure.closed)
        context.fireChannelInactive()
    }
}
