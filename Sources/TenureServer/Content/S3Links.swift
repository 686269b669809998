import Foundation
import Logging
import ServiceLifecycle
import TenureContent
import UnixSignals

/// Links to a bucket, under secrets that can be replaced while the service runs.
final class S3Links: @unchecked Sendable {
    // Sound: `current` is used between `lock.lock()` and `lock.unlock()` only.
    private let lock = NSLock()
    private var current: S3Presigner
    private let settings: S3Settings

    /// Reads the secrets.
    init(_ settings: S3Settings) throws(ServiceError) {
        self.settings = settings
        current = try S3Presigner(settings)
    }

    var presigner: S3Presigner { lock.withLock { current } }

    /// Reads the secrets again. If they can't be used, those that were read before stay.
    func reload() throws(ServiceError) {
        let fresh = try S3Presigner(settings)
        lock.withLock { current = fresh }
    }
}

/// Reads the secrets of a bucket again on SIGHUP, until the service ends.
struct S3SecretReloading: Service {
    let links: S3Links
    let logger: Logger

    func run() async throws {
        for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
            do throws(ServiceError) {
                try links.reload()
                logger.info("the secrets of the bucket were read again")
            } catch {
                logger.error(
                    "the secrets of the bucket were not replaced", metadata: ["detail": "\(error.description)"])
            }
        }
    }
}
