import Foundation
import Logging
import ServiceLifecycle

/// Compares the signing key once a second with the signing key of the other processes that use the database. Logs
/// rotations, a key file that can't be read, and the end of the signing period, which is the time until which the
/// offline root allows the key in use to sign.
struct SigningKeyWatch: Service {
    let keys: SigningKeys
    let agreement: KeyAgreement
    let now: @Sendable () -> Date
    let logger: Logger

    private static let interval = Swift.Duration.seconds(1)

    func run() async throws {
        var log = SigningKeyLog(keys.current.id)
        var agreed = agreement.initialKeyID
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            // If the database doesn't respond, syncs fail too, so no token is issued with an outdated key.
            try? await agreement.reconcile(keys, agreed: &agreed)
            for line in log.lines(about: keys.current, keys.failure, at: now()) {
                logger.log(level: line.level, "\(line.message)")
            }
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.interval) }
        }
    }
}
