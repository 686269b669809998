import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Makes one attempt to deliver a webhook.
///
/// The sender looks up the host's addresses and checks all of them. It connects only to a checked address, even if DNS
/// returns another address a moment later. So a host name can't lead the service into a private network, unless the
/// webhook has `allowPrivate: true`. The sender reads only the status and `Retry-After` of a response.
struct WebhookSender: Sendable {
    let resolver: HostResolver
    private let tls: TLSConfiguration
    var timeouts = Timeouts()

    /// The timeouts of one attempt.
    struct Timeouts: Sendable {
        var connection = TimeAmount.seconds(5)
        /// The timeout from the request to the head of the response.
        var answer = TimeAmount.seconds(15)
    }

    /// The result of an attempt.
    enum Answer: Sendable, Hashable {
        /// The status and `Retry-After` of the response.
        case status(Int, retryAfter: String?)
        /// There is no response, for this reason.
        case noResponse(String)
    }

    /// Makes a sender that trusts `trustRoots`, or the system's certificate authorities.
    init(resolver: HostResolver = .system, trustRoots: NIOSSLTrustRoots? = nil) throws(ServiceError) {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.allowModernTLSOnly()
        if let trustRoots { configuration.trustRoots = trustRoots }
        // Each attempt creates a TLS context. If that isn't possible, the service must not start, so try it here.
        guard (try? NIOSSLContext(configuration: configuration)) != nil else {
            throw .failed("webhooks need trusted certificate authorities; install the system's `ca-certificates`")
        }
        tls = configuration
        self.resolver = resolver
    }

    /// Sends a body to a target.
    ///
    /// - Parameter attempt: The number of the attempt, from 1. Each attempt uses the next of the host's addresses.
    func send(
        _ body: [UInt8], headers: [(String, String)], to target: WebhookTarget, attempt: Int = 1
    ) async -> Answer {
        guard let addresses = try? await resolver.addresses(target.host, target.port) else {
            return .noResponse("the host `\(target.host)` has no address")
        }
        if let refusal = Self.refusal(of: addresses, for: target) { return .noResponse(refusal) }
        let address = addresses[max(0, attempt - 1) % addresses.count]
        do {
            return try await exchange(body, headers, with: target, at: address)
        } catch {
            return .noResponse(Self.description(of: error))
        }
    }

    /// Returns why the service doesn't connect to these addresses; nil if it may connect.
    static func refusal(of addresses: [SocketAddress], for target: WebhookTarget) -> String? {
        guard !addresses.isEmpty else { return "the host `\(target.host)` has no address" }
        if !target.isEncrypted {
            let isLoopback = addresses.allSatisfy { NetworkAddress($0)?.isLoopback == true }
            return isLoopback ? nil : "`\(target.host)` isn't loopback, and the URL has no TLS; use https"
        }
        guard !target.allowsPrivate, let privateAddress = addresses.first(where: { !PublicAddress.contains($0) }) else {
            return nil
        }
        return """
            `\(target.host)` has the address \(privateAddress.ipAddress ?? "?"), which isn't public; set `allowPrivate: true` to \
            allow it
            """
    }

    /// Sends the request with a client that knows only this address, and returns without reading the body.
    private func exchange(
        _ body: [UInt8], _ headers: [(String, String)], with target: WebhookTarget, at address: SocketAddress
    ) async throws -> Answer {
        var request = HTTPClientRequest(
            url: "\(target.isEncrypted ? "https" : "http")://\(target.hostHeader)\(target.path)")
        request.method = .POST
        request.headers = HTTPHeaders([
            ("Connection", "close"), ("User-Agent", "Tenure"), ("Content-Type", "application/json"),
        ])
        request.headers.add(contentsOf: headers)
        request.body = .bytes(body)
        // Use NIO's own event loops on Apple's platforms too, where other event loops would throw other errors.
        let client = HTTPClient(
            eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton),
            configuration: configuration(for: target, at: address))
        let response: Result<HTTPClientResponse, any Error>
        do {
            let deadline = NIODeadline.now() + timeouts.connection + timeouts.answer
            response = .success(try await client.execute(request, deadline: deadline))
        } catch {
            response = .failure(error)
        }
        // Closes the connection without reading the rest of the response's body.
        try? await client.shutdown()
        let head = try response.get()
        return .status(Int(head.status.code), retryAfter: head.headers.first(name: "Retry-After"))
    }

    /// The settings of a client that connects to this address only.
    private func configuration(for target: WebhookTarget, at address: SocketAddress) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow,
            timeout: .init(connect: timeouts.connection, read: timeouts.answer))
        configuration.httpVersion = .http1Only
        // `EndpointWorker` decides when to try again.
        configuration.connectionPool.retryConnectionEstablishment = false
        // The client connects to this address instead of asking DNS. If the URL has an address instead of a host name,
        // the client connects to the address in the URL, which is the same one.
        if let checked = address.ipAddress { configuration.dnsOverride = [target.host: checked] }
        return configuration
    }

    /// Describes a failed attempt in the service's own words, because the error's text may repeat what the receiver
    /// sent.
    private static func description(of error: any Error) -> String {
        switch error {
        case let error as HTTPClientError where error == .deadlineExceeded || error == .readTimeout:
            "the endpoint didn't respond in time"
        case let error as HTTPClientError where error == .remoteConnectionClosed:
            "the endpoint closed the connection without a response"
        case let error as HTTPClientError where error == .connectTimeout || error == .tlsHandshakeTimeout:
            "the endpoint didn't accept the connection in time"
        case ChannelError.connectTimeout: "the endpoint didn't accept the connection in time"
        case is NIOSSLExtraError: "the endpoint's certificate names another host"
        case NIOSSLError.handshakeFailed:
            "the endpoint's certificate isn't trusted, or the endpoint doesn't support TLS 1.2"
        case is NIOSSLError, is BoringSSLError: "the encrypted connection failed"
        case let error as IOError where error.errnoCode == ECONNREFUSED: "the endpoint refused the connection"
        case is IOError: "the endpoint can't be reached"
        case is HTTPParserError: "the endpoint's response isn't HTTP"
        default: "the connection failed"
        }
    }
}
