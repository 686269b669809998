import Foundation
import Logging
import ServiceLifecycle
import TenureContent
import TenureCore
import UnixSignals

/// Makes links to a bucket, with secrets that can be replaced while the service runs.
final class S3Links: Sendable {
    private let current: Locked<S3Presigner>
    private let settings: S3Settings

    /// Reads the secrets.
    init(_ settings: S3Settings) throws(ServiceError) {
        self.settings = settings
        current = Locked(try S3Presigner(settings))
    }

    /// Signs links with the current secrets.
    var presigner: S3Presigner { current.withLock { $0 } }

    /// Reloads the secrets. If they are invalid, the previous ones stay in use.
    func reload() throws(ServiceError) {
        let fresh = try S3Presigner(settings)
        current.withLock { $0 = fresh }
    }
}

/// Reloads the secrets of a bucket on SIGHUP, until the service ends.
struct S3SecretReloading: Service {
    let links: S3Links
    let logger: Logger

    func run() async throws {
        for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
            do throws(ServiceError) {
                try links.reload()
                logger.info("reloaded the secrets of the bucket")
            } catch {
                logger.error(
                    "the new secrets of the bucket are invalid; the previous ones stay in use",
                    metadata: ["detail": "\(error.description)"])
            }
        }
    }
}
