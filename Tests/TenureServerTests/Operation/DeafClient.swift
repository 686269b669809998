import NIOCore
import NIOPosix
import NIOSSL

/// A TLS client that gets one response and then ignores what comes, the end of TLS included.
enum DeafClient {
    /// Returns when the response to `request` has come.
    static func connect(port: Int, sending request: String) async throws -> any Channel {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.certificateVerification = .none
        let context = try NIOSSLContext(configuration: tls)
        let group = MultiThreadedEventLoopGroup.singleton
        let answered = group.any().makePromise(of: Void.self)
        do {
            let channel = try await ClientBootstrap(group: group).channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let ear = DeafEar()
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(ear)
                    try pipeline.addHandler(NIOSSLClientHandler(context: context, serverHostname: nil))
                    try pipeline.addHandler(FirstResponse(to: request, answered, ear))
                }
            }.connect(host: "127.0.0.1", port: port).get()
            try await answered.futureResult.get()
            return channel
        } catch {
            answered.fail(error)
            throw error
        }
    }
}

/// A handler before the handler for TLS, which drops what arrives after the first response.
private final class DeafEar: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    var isClosed = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if !isClosed { context.fireChannelRead(data) }
    }
}

private final class FirstResponse: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let request: String
    private let answered: EventLoopPromise<Void>
    private let ear: DeafEar

    init(to request: String, _ answered: EventLoopPromise<Void>, _ ear: DeafEar) {
        self.request = request
        self.answered = answered
        self.ear = ear
    }

    func channelActive(context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: request)), promise: nil)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        ear.isClosed = true
        answered.succeed(())
    }

    func channelInactive(context: ChannelHandlerContext) {
        answered.fail(ChannelError.eof)
        context.fireChannelInactive()
    }
}
