import NIOCore
import NIOSSL

extension Channel {
    /// Closes the connection at once, on any thread.
    ///
    /// `close` would first end TLS. If the client doesn't answer, that takes up to five seconds, in which the
    /// connection would keep a file open.
    func closeTransport() {
        eventLoop.execute {
            // Closing from the handler of TLS goes on to the next handler toward the socket, so TLS isn't ended first.
            if let tls = try? self.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self) {
                tls.close(promise: nil)
            } else {
                self.close(promise: nil)
            }
        }
    }
}
