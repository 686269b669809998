import Foundation
import TenureAppStore
import TenureCore

/// The verified and the rejected artifacts in the files of one customer.
struct CustomerFiles {
    /// A file, or a line of a file, with an artifact that was rejected.
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
    /// The environment of all verified files. Production if no file was verified.
    let environment: AppStoreEnvironment

    /// Reads and verifies the files. Throws if a file can't be read, or if the files mix environments.
    ///
    /// - Parameter device: the `AppStore.deviceVerificationID` of the device that app transactions must be for. Nil
    ///   accepts app transactions for any device.
    init(_ paths: [String], verifier: AppStoreVerifier, device: UUID?, now: Date) throws {
        for path in paths {
            for (name, bytes) in try InputFile(path: path).artifacts() {
                do {
                    let artifact = try AppStoreArtifact(recognizing: bytes)
                    // Files may come from the App Store Server API, so accept app transactions without a device.
                    guard let verified = try verifier.verify(artifact, from: .appStoreServer, now: now) else {
                        throw RejectedFile(
                            name: name, code: "unsigned",
                            detail: "a response of verifyReceipt has no signature, so it proves nothing")
                    }
                    if case .notification(let notification) = verified, notification.isWithoutCustomer {
                        throw RejectedFile(
                            name: name, code: "noCustomer",
                            detail: "this notification (\(notification.typeName)) isn't about a customer")
                    }
                    try Self.check(verified, named: name, isOf: device)
                    // Rejects an artifact without usable facts now. Otherwise it would fail the whole decision later.
                    _ = try Evidence(in: verified.environment, from: [verified], purchasesAreComplete: false)
                    artifacts.append(verified)
                } catch let rejection as Rejection {
                    rejected.append(
                        RejectedFile(
                            name: name, code: rejection.code.rawValue, detail: rejection.detail,
                            advice: rejection.advice))
                } catch let file as RejectedFile {
                    rejected.append(file)
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

    /// Returns what the verified artifacts prove about the customer.
    ///
    /// - Parameter purchasesAreComplete: whether the files contain all of the customer's purchases.
    func evidence(purchasesAreComplete: Bool) throws -> Evidence {
        try Evidence(in: environment, from: artifacts, purchasesAreComplete: purchasesAreComplete)
    }

    /// Throws a `RejectedFile` if this is an app transaction of another device than `device`.
    private static func check(_ verified: VerifiedArtifact, named name: String, isOf device: UUID?) throws {
        guard let device, case .appTransaction(let app) = verified else { return }
        func otherDevice(_ detail: String) -> RejectedFile {
            RejectedFile(name: name, code: "otherDevice", detail: detail)
        }
        guard let binding = try app.payload.deviceBinding() else {
            throw otherDevice("the app transaction isn't bound to a device, so it can't be compared with --device-id")
        }
        guard binding.matches(deviceVerificationID: device) else {
            throw otherDevice("the app transaction is bound to another device than `\(device.uuidString.lowercased())`")
        }
    }
}

extension VerifiedNotification {
    /// Whether the notification has no artifact of a customer, such as a test notification.
    fileprivate var isWithoutCustomer: Bool { transaction == nil && renewalInfo == nil && appTransaction == nil }

    fileprivate var typeName: String { notification.payload.notificationType?.rawValue ?? "without a type" }
}
