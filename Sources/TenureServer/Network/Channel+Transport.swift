import NIOCore
import NIOSSL

extension Channel {
    /// Closes the connection at once, on any thread.
    ///
    /// NIO's `close` first sends the end of TLS and waits for the client's reply. Without a reply, that takes up to
    /// five seconds, in which the process keeps the connection's file descriptor.
    func closeTransport() {
        eventLoop.execute {
            // The TLS handler's own context passes `close` to the handlers between it and the socket, so the end of TLS
            // isn't sent.
            if let tls = try? self.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self) {
                tls.close(promise: nil)
            } else {
                self.close(promise: nil)
            }
        }
    }
}
