import NIOCore
import NIOSSL

extension Channel {
    /// Closes the connection at once, on any thread.
    ///
    /// `close` would first end TLS. It would wait up to five seconds for a client that doesn't answer, and the connection
    /// would still take an open file.
    func closeTransport() {
        eventLoop.execute {
            // If the handler for TLS closes, only the handlers before it take part: those of the transport.
            if let tls = try? self.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self) {
                tls.close(promise: nil)
            } else {
                self.close(promise: nil)
            }
        }
    }
}
