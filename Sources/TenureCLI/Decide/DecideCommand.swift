import ArgumentParser
import Foundation
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON

struct DecideCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decide", abstract: "Decide what a customer may use, from their signed App Store artifacts.",
        discussion: """
            The files must contain all of the customer's purchases; with --incomplete, purchases may be missing. Rejected \
            files are ignored, and the command prints their names. If such a file may contain a purchase, purchases may \
            be missing. Bundle ID and Apple ID are read from the policy.

            Exit codes: 0 all granted, 3 any undetermined, otherwise 2 any denied, 1 error, 64 wrong usage.

            Examples:
              tenure decide --policy policy.yaml receipt
              tenure decide --policy policy.yaml --entitlement everything \\
                  --json app-transaction.jws transaction.jws
              tenure decide --policy policy.yaml --at 2027-01-01 receipt
            """)

    @Option(help: .value("file", "The policy, in YAML or JSON.")) var policy: String

    @Argument(
        help:
            "Files with signed App Store artifacts of one customer; - for standard input. A file may have one JWS per line."
    )
    var files: [String] = []

    @Option(help: .value("name", "Show only this entitlement. Repeatable."))
    var entitlement: [String] = []

    @Flag(
        help: """
            The files may lack purchases: an entitlement that the customer might have bought is undetermined, not \
            denied.
            """)
    var incomplete = false

    @OptionGroup var trust: TrustOptions

    @Option(
        help: .value(
            "uuid",
            "The device's `AppStore.deviceVerificationID`. App transactions that aren't bound to this device are then rejected."
        ))
    var deviceID: String?

    @Option(help: .value("date", "Decide as of this instant. A day means 00:00 UTC."), transform: Date.init(argument:))
    var at: Date?

    @Option(
        help: .value(
            "tag", "The customer's language, such as `de`, for the titles in sentences; repeat it for a second choice.")
    )
    var language: [String] = []

    @Flag(help: "Write JSON: `environment`, `decisions`, `rejected`.") var json = false

    func validate() throws { try checkDeviceID(deviceID) }

    func run() async throws {
        let policy = try PolicyOnDisk(path: self.policy).read()
        for name in entitlement where policy.entitlement(named: name) == nil {
            let names = policy.entitlements.map { "`\($0.name)`" }.joined(separator: ", ")
            throw CommandError("the policy has no entitlement `\(name)`; pass one of \(names)")
        }
        let verifier = AppStoreVerifier(
            app: AppIdentity(bundleID: policy.app.bundleID, appAppleID: policy.app.appleID),
            trust: try trust.configuration())
        let instant = at ?? Date()
        // If --at is in the future, accept artifacts that are signed until then.
        let customer = try CustomerFiles(
            files, verifier: verifier, device: deviceID.flatMap(UUID.init(digits:)), now: max(instant, Date()))
        if files.isEmpty {
            Terminal.standardError.write(
                "warning: no file was passed, so this is the answer for a customer without artifacts; pass the customer's files, or - for standard input"
            )
        }
        let evidence = try Evidence(
            in: customer.environment, from: customer.artifacts,
            purchasesAreComplete: !incomplete && !customer.mayLackPurchases)
        let decisions = decide(evidence, under: policy, at: instant)
            .filter { entitlement.isEmpty || entitlement.contains($0.entitlement) }
        if json { writeJSON(decisions, of: customer) } else { writeText(decisions, of: customer) }
        throw ExitCode(of: decisions)
    }

    private func writeJSON(_ decisions: [Decision], of customer: CustomerFiles) {
        let fields = JSONWriter.object { writer in
            writer.field("environment", customer.environment.rawValue)
            writer.field("decisions", decisions) { $0.value($1, in: language) }
            writer.objects("rejected", customer.rejected) { writer, file in
                writer.field("file", file.name)
                writer.field("code", file.code)
                writer.field("detail", file.detail)
            }
        }
        terminal.write(json: fields)
    }

    private func writeText(_ decisions: [Decision], of customer: CustomerFiles) {
        for file in customer.rejected {
            let reason = "\(Terminal.escaped(file.detail))\(file.advice ?? "") [\(file.code)]"
            Terminal.standardError.write("warning: `\(file.name)` is ignored: \(reason)")
        }
        if !customer.environment.isProduction { terminal.write("in \(customer.environment.rawValue)") }
        for decision in decisions {
            let outcome = terminal.styled(decision.outcome.rawValue, decision.outcome.style)
            let until = decision.until.map { " until \($0.rfc3339)" } ?? ""
            terminal.write("\(terminal.styled(decision.entitlement, .bold)): \(outcome)\(until)")
            terminal.write("  \(Terminal.escaped(decision.sentence(in: language)))")
            for reason in decision.reasons { terminal.write("  - \(reason.displayText)") }
        }
    }
}

extension Decision.Outcome {
    /// The color of the outcome on a terminal.
    var style: Terminal.Style {
        switch self {
        case .granted: .green
        case .denied: .red
        case .undetermined: .yellow
        }
    }
}

extension Reason {
    /// The reason's code and facts on one line: `version: version 37, platform iOS, eras paid`.
    var displayText: String {
        let facts = facts.map { name, fact in
            switch fact {
            case .text(let text): "\(name) \(Terminal.escaped(text))"
            case .date(let date): "\(name) \(date.rfc3339)"
            case .names(let names): "\(name) \(names.joined(separator: " or "))"
            }
        }
        return facts.isEmpty ? code : "\(code): \(facts.joined(separator: ", "))"
    }
}

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
    /// Whether a rejected file may contain a purchase of the customer.
    private(set) var mayLackPurchases = false
    /// The environment of all verified files. Production if no file was verified.
    let environment: AppStoreEnvironment

    /// Reads and verifies the files. Throws if a file can't be read, or if the files mix environments.
    ///
    /// - Parameter device: the `AppStore.deviceVerificationID` of the device that app transactions must be for. Nil
    ///   accepts app transactions for any device.
    init(_ paths: [String], verifier: AppStoreVerifier, device: UUID?, now: Date) throws {
        for path in paths {
            for (name, bytes) in try InputFile(path: path).artifacts() {
                func refusal(_ code: String, _ detail: String) -> RejectedFile {
                    RejectedFile(name: name, code: code, detail: detail)
                }
                var mayContainPurchase = true
                do {
                    let artifact = try AppStoreArtifact(recognizing: bytes)
                    mayContainPurchase = artifact.mayContainPurchase
                    // Files may come from the App Store Server API, so accept app transactions without a device.
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
                    // Rejects an artifact without usable facts now. Otherwise it would fail the whole decision later.
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
