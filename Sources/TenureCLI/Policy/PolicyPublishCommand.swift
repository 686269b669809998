import ArgumentParser
import TenureAPI
import TenureRehearsal
import TenureServer

struct PolicyPublishCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish",
        abstract: "Rehearse a policy (a dry run over all customers of a service), then publish it.",
        discussion: """
            Shows how many customers gain and lose entitlements, and what `tenure policy check` finds. Refuses a policy \
            with errors that the policy doesn't acknowledge. If a customer would lose or gain something, the command \
            refuses and prints the options that allow it. The new policy decides from each customer's next request on. \
            Docs/publishing.md explains publishing.

            Exit codes:
            0   published, or rehearsed with --rehearse.
            2   refused: customers lose or gain something, or the policy has mistakes or errors.
                With --rehearse: the policy has mistakes, or there are no customers.
            1   any other refusal, or no service responds.
            64  wrong usage.

            Examples:
              tenure policy publish policy.yaml --rehearse --key-file policy.key
              tenure policy publish policy.yaml --reason "free from 3.0 on" \\
                  --key-file policy.key
              tenure policy publish policy.yaml --reason "boundary was wrong" \\
                  --take-from 12 --rehearsal reh_x --key-file policy.key
            """)

    @Argument(
        help: "The policy, in YAML or JSON; - for standard input. A release list that it names is published with it.")
    var file: String

    @OptionGroup var publishing: PublishingOptions
    @OptionGroup var service: ServiceOptions

    func run() async throws {
        let compiled = try printingMistakes { try PolicyOnDisk(path: file).compiled() }
        try await publishing.run(
            service.client(), rehearsing: RehearseRequest(policy: String(decoding: compiled, as: UTF8.self)),
            publishingAt: "/v1/admin/policies")
    }
}

struct PolicyRollbackCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollback", abstract: "Publish an older version of the policy again.",
        discussion: """
            Works like `publish`: the version is rehearsed, and refused if a customer would lose something. Promises \
            (rights that a published policy gave to customers) that a later publication ended take effect again. Without \
            --to, the version before the current one is published.

            Exit codes: those of `publish`.

            Example:
              tenure policy rollback --reason "boundary was right after all" \\
                  --key-file policy.key
            """)

    @Option(help: .value("version", "The version to publish.")) var to: Int64?

    @OptionGroup var publishing: PublishingOptions
    @OptionGroup var service: ServiceOptions

    func run() async throws {
        try await publishing.run(
            service.client(), rehearsing: RehearseRequest(version: to), publishingAt: "/v1/admin/policies/rollback")
    }
}

/// The options that `publish` and `rollback` share.
struct PublishingOptions: ParsableArguments {
    @Option(help: "The reason, for readers of the audit trail.") var reason: String?

    @Option(help: "The author of the policy, if it isn't the person with the key.")
    var author: String?

    @Flag(help: "Customers keep the rights that earlier policies promised, even if the new policy gives less.")
    var keepPromises = false

    @Option(
        help: .value("number", "How many customers may lose something: at least the number that the rehearsal printed.")
    )
    var takeFrom: Int?

    @Option(
        help: .value(
            "number",
            "How many customers may gain something: at least the number that the rehearsal printed. A rollback needs none."
        ))
    var giveTo: Int?

    @Option(help: .value("id", "The ID of the rehearsal that found the numbers for --take-from and --give-to."))
    var rehearsal: String?

    @Flag(help: "Only rehearse, and publish nothing.") var rehearse = false

    @Flag(help: "Write the publication as JSON; with --rehearse, the rehearsal.") var json = false

    func validate() throws {
        try require(
            (takeFrom == nil && giveTo == nil) == (rehearsal == nil),
            "--take-from and --give-to need --rehearsal, and --rehearsal needs at least one of them; pass the numbers and the ID that a rehearsal printed"
        )
        try require(
            (takeFrom ?? 0) >= 0 && (giveTo ?? 0) >= 0,
            "--take-from and --give-to can't be negative; pass a number of customers")
        try require(rehearse || reason != nil, "`--reason` is missing; write why you publish")
    }

    /// Rehearses a policy and prints the result, except if `--rehearsal` names an earlier rehearsal. Then publishes the
    /// policy, except with `--rehearse`.
    ///
    /// - Parameters:
    ///   - proposal: the policy, or the number of an earlier version for a rollback.
    ///   - path: the path of the request that publishes.
    func run(_ client: ServiceClient, rehearsing proposal: RehearseRequest, publishingAt path: String) async throws {
        var ownRehearsal: RehearsalAnswer?
        if rehearsal == nil {
            let rehearsal: RehearsalAnswer = try await client.post("/v1/admin/policies/rehearsals", proposal)
            if !json || rehearse { show(rehearsal) }
            ownRehearsal = rehearsal
        }
        if rehearse, ownRehearsal?.customers == 0 {
            Terminal.standardError.write("no customer was rehearsed, so these numbers prove nothing")
            throw ExitCode.refused
        }
        guard !rehearse, let reason else { return }
        let request = PublishRequest(
            policy: proposal.policy, version: proposal.version, reason: reason, author: author,
            keepPromises: keepPromises ? true : nil, takeFrom: takeFrom, giveTo: giveTo, rehearsal: rehearsal)
        do {
            let publication: PublicationAnswer = try await client.post(path, request)
            show(publication)
        } catch let refusal as ServiceClient.Refusal where refusal.problem.reason == "policyErrors" {
            Terminal.standardError.write(Terminal.escaped("refused: \(refusal.problem.detail)"))
            throw ExitCode.refused
        } catch let refusal as ServiceClient.Refusal
            where ["takesRights", "takesMore", "givesRights", "givesMore"].contains(refusal.problem.reason)
        {
            // Customers would lose or gain something. The service rehearsed again, so there may be two rehearsals: if
            // both have the same result, the user confirms the one that is already shown.
            let repeated: RehearsalAnswer = try await client.get(
                "/v1/admin/policies/rehearsals/\(ServiceClient.escaped(refusal.problem.rehearsal ?? ""))")
            var rehearsalToConfirm = repeated
            if let ownRehearsal, ownRehearsal.hasSameResult(as: repeated) {
                rehearsalToConfirm = ownRehearsal
            } else if !json {
                show(repeated)
            }
            Terminal.standardError.write("refused: nothing was changed")
            let isRollback = proposal.policy == nil
            for line in advice(on: rehearsalToConfirm, isRollback: isRollback) { Terminal.standardError.write(line) }
            throw ExitCode.refused
        }
    }

    /// Returns lines with the options that allow the changes that a rehearsal found, such as
    /// `--take-from 12 --rehearsal reh_x`.
    private func advice(on answer: RehearsalAnswer, isRollback: Bool) -> [String] {
        // A rollback gives back what a publication took away. So its gains aren't limited, and it needs no --give-to.
        let giveOption = answer.gaining > 0 && !isRollback ? ["--give-to \(answer.gaining)"] : []
        // `losingWithPromises` customers lose something even if all promises are kept. Promises protect the others.
        let promised = answer.losing - answer.losingWithPromises
        var lines: [String] = []
        if promised > 0, !keepPromises {
            let stillLosing = answer.losingWithPromises
            lines.append(
                "  \(promised) lose something that was promised to them: with `--keep-promises` they keep it"
                    + (stillLosing > 0
                        ? "; for the other losses, also pass `--take-from \(stillLosing) --rehearsal \(answer.id)`"
                        : ""))
        }
        let losing = keepPromises ? answer.losingWithPromises : answer.losing
        var options = keepPromises ? ["--keep-promises"] : []
        if losing > 0 { options.append("--take-from \(losing)") }
        options += giveOption + ["--rehearsal \(answer.id)"]
        lines.append("  to publish anyway, repeat the command with `\(options.joined(separator: " "))`")
        return lines
    }

    // MARK: Showing

    private func show(_ rehearsal: RehearsalAnswer) {
        if json { terminal.write(encoded: rehearsal) } else { rehearsal.write(to: terminal) }
    }

    private func show(_ publication: PublicationAnswer) {
        if json { terminal.write(encoded: publication) } else { publication.write(to: terminal) }
    }
}

extension RehearsalAnswer {
    /// Whether both rehearsals have the same counts of customers, compared with the same version.
    fileprivate func hasSameResult(as other: RehearsalAnswer) -> Bool {
        (customers, losing, losingWithPromises, gaining, against)
            == (other.customers, other.losing, other.losingWithPromises, other.gaining, other.against)
    }

    fileprivate func write(to terminal: Terminal) {
        terminal.write("rehearsal \(id): \(customers.grouped("customer")), against version \(against)")
        terminal.write("  \(gaining) gain")
        let promised = losing - losingWithPromises
        terminal.write("  \(losing) lose" + (promised > 0 ? ", \(promised) of whom were promised what they lose" : ""))
        if contradicting > 0 {
            terminal.write("  \(contradicting) have contradicting proofs: version and date are of different eras")
        }
        for product in productsWithoutEntitlement {
            let text = "  \(product.customers) bought `\(product.id)`, which no entitlement lists"
            terminal.write(Terminal.escaped(text))
        }
        for entitlement in entitlements where entitlement.gains + entitlement.loses > 0 {
            let text = "\(entitlement.name): \(entitlement.gains) gain, \(entitlement.loses) lose"
            terminal.write(Terminal.escaped(text))
            for (word, examples) in [("gains", entitlement.gainers), ("loses", entitlement.losers)] {
                for example in examples.prefix(5) { terminal.write("  " + example.line(word)) }
            }
        }
        for finding in findings {
            let text = Terminal.escaped("\(finding.severity): \(finding.message) [\(finding.code)]")
            terminal.write(finding.blocks ? terminal.styled(text, .red) : text)
            if finding.blocks, !finding.at.isEmpty { terminal.write(Terminal.escaped("  at: \(finding.at)")) }
        }
    }
}

extension PublicationAnswer {
    fileprivate func write(to terminal: Terminal) {
        terminal.write("version \(version) is in effect (publication \(publication))")
        if losing > 0 {
            terminal.write("  \(losing.grouped("customer")) lost something; \(ended.grouped("promise")) ended")
        }
        if restored > 0 {
            terminal.write("  \(restored.grouped("promise")) \(restored == 1 ? "applies" : "apply") again")
        }
    }
}

extension RehearsalAnswer.Example {
    /// Returns a line such as
    /// `cus_x loses [iOS, 150, 2016-01-01]: granted (eraHonored), then denied (eraNotHonored)`.
    fileprivate func line(_ word: String) -> String {
        let date = originalPurchaseDate.map { String($0.prefix(10)) }
        let knownFacts = [platform, originalAppVersion, date].compactMap(\.self)
        func words(_ answer: RehearsalAnswer.Answer) -> String {
            "\(answer.outcome)\(answer.until.map { " until \($0)" } ?? "") (\(answer.reason))"
        }
        let facts = knownFacts.isEmpty ? "" : " [\(knownFacts.joined(separator: ", "))]"
        return Terminal.escaped("\(customer) \(word)\(facts): \(words(before)), then \(words(now))")
    }
}
