import Foundation
import TenureAppStore
import TenureCore

/// The verified and the rejected artifacts in the files of one customer, for `tenure decide`.
struct CustomerFiles {
    /// A file, or a line of a file, with a rejected artifact. Inside `init`, it is also the error that rejects the
    /// artifact.
    struct RejectedFile: Error {
        /// The path of the file; for a file with several artifacts, also the line.
        let name: String
        /// A stable name for the reason, such as `unsigned`.
        let code: String
        /// The reason as a sentence.
        let detail: String
        /// What to do about the file, as the end of a message; nil if nothing helps.
        var advice: String?
    }

    private(set) var artifacts: [VerifiedArtifact] = []
    private(set) var rejected: [RejectedFile] = []
    /// Whether a rejected file may contain a purchase of the customer.
    private(set) var mayLackPurchases = false
    /// The environment of all verified files. Production if no file was verified.
    let environment: AppStoreEnvironment

    /// Reads and verifies the files. Throws if a file can't be read, or if the files are from several environments.
    ///
    /// - Parameters:
    ///   - device: the `AppStore.deviceVerificationID` to which app transactions must be bound. If it is nil, app
    ///     transactions for any device are accepted.
    ///   - now: artifacts with a later signing date are rejected.
    init(_ paths: [String], verifier: AppStoreVerifier, device: UUID?, now: Date) throws {
        for path in paths {
            for (name, bytes) in try InputFile(path: path).artifacts() {
                func refusal(_ code: String, _ detail: String) -> RejectedFile {
                    RejectedFile(name: name, code: code, detail: detail)
                }
                // Until the artifact is recognized, it may contain a purchase.
                var mayContainPurchase = true
                do {
                    let artifact = try AppStoreArtifact(recognizing: bytes)
                    mayContainPurchase = artifact.mayContainPurchase
                    // Files may come from the App Store Server API, so accept app transactions that aren't bound to a
                    // device.
                    guard let verified = try verifier.verify(artifact, from: .appStoreServer, now: now) else {
                        throw refusal("unsigned", "a response of verifyReceipt has no signature, so it proves nothing")
                    }
                    if case .notification(let notification) = verified, notification.isWithoutCustomer {
                        mayContainPurchase = false
                        throw refusal(
                            "noCustomer", "this notification (\(notification.typeName)) isn't about a customer")
                    }
                    if let device, case .appTransaction(let app) = verified {
                        guard let binding = try app.payload.deviceBinding() else {
                            throw refusal(
                                "otherDevice",
                                "the app transaction isn't bound to a device, so it can't be compared with --device-id")
                        }
                        guard binding.matches(deviceVerificationID: device) else {
                            let id = device.uuidString.lowercased()
                            throw refusal("otherDevice", "the app transaction is bound to another device than `\(id)`")
                        }
                    }
                    // Reject an artifact without usable facts here. Later, it would make the whole decision fail.
                    _ = try Evidence(in: verified.environment, from: [verified], purchasesAreComplete: false)
                    artifacts.append(verified)
                } catch let rejection as Rejection {
                    var file = refusal(rejection.code.rawValue, rejection.detail)
                    file.advice = rejection.advice
                    rejected.append(file)
                    if mayContainPurchase { mayLackPurchases = true }
                } catch let file as RejectedFile {
                    rejected.append(file)
                    if mayContainPurchase { mayLackPurchases = true }
                }
            }
        }
        let environments = Set(artifacts.map(\.environment))
        guard environments.count <= 1 else {
            let names = environments.map(\.rawValue).sorted()
            throw CommandError(
                "the files are from \(names.joined(separator: " and ")), which can't be combined; select one, such as with `--environment \(names[0].lowercased())`"
            )
        }
        environment = environments.first ?? .production
    }
}

extension VerifiedNotification {
    /// Whether the notification has no artifact of a customer, such as a test notification.
    fileprivate var isWithoutCustomer: Bool { transaction == nil && renewalInfo == nil && appTransaction == nil }

    fileprivate var typeName: String { notification.payload.notificationType?.rawValue ?? "without a type" }
}
