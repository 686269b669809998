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
        // If --at is in the future, accept artifacts with a signing date up to then.
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
        // Ends the command with this code, which may also be 0.
        throw ExitCode(of: decisions)
    }

    private func writeJSON(_ decisions: [Decision], of customer: CustomerFiles) {
        let fields = JSONWriter.object { writer in
            writer.field("environment", customer.environment.rawValue)
            writer.field("decisions", decisions) { writer, decision in writer.value(decision, in: language) }
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
