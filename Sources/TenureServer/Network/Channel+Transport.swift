import NIOCore
import NIOSSL

extension Channel {
    /// Closes the connection at once, on any thread.
    ///
    /// `close` would first end TLS. That would take up to five seconds if the client doesn't answer, and the connection
    /// would keep an open file until then.
    func closeTransport() {
        eventLoop.execute {
            // If the handler for TLS closes, only the handlers before it take part, which belong to the transport.
            if let tls = try? self.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self) {
                tls.close(promise: nil)
            } else {
                self.close(promise: nil)
            }
        }
    }
}
