import NIOCore
import NIOSSL

extension Channel {
    /// Closes the connection at once, on any thread.
    ///
    /// `close` would first send the end of TLS and wait for the client's reply. Without a reply, that takes up to five
    /// seconds, in which the connection keeps a file open.
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
