import ArgumentParser
import Foundation
import TenureAPI
import TenureJSON

struct PersonaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "persona",
        abstract: "Make, list and revoke customers to rehearse with.",
        discussion: """
            A persona's token goes with a sandbox build's sync, which is then answered as if that customer had come. \
            Beside production it counts for nothing. Docs/personas.md has the rest.
            """,
        subcommands: [
            PersonaCreateCommand.self, PersonaReadyMadeCommand.self, PersonaListCommand.self,
            PersonaRevokeCommand.self,
        ]
    )
}

/// The options that both ways of making personas share.
struct PersonaTerms: ParsableArguments {
    @Option(help: "On which platform they acquired the app: iOS, macOS, tvOS, watchOS or visionOS.")
    var platform: String?

    @Option(help: "When they stand for nobody any more (2026-12-31, 2026-12-31T18:00:00Z). Default: after 30 days.")
    var expires: Instant?

    @Flag(help: "Take the place of good ones of the same name, which are revoked.")
    var replace = false

    func write(into json: inout JSONWriter) {
        if let expires {
            json.key("expires")
            json.value(expires.date)
        }
        if replace {
            json.key("replace")
            json.value(true)
        }
    }
}

struct PersonaCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Make a persona and print its token.",
        discussion: """
            --set names what their app transaction would say: originalPlatform, originalAppVersion, \
            originalPurchaseDate, preorderDate, revocationDate, expirationDate. What is not set is not known.

            Exit codes: 0 made, 1 refused, or no service answers, 64 wrong usage.

            Example:
              tenure persona create --name early-buyer --platform iOS \\
                --set originalAppVersion=37 --set originalPurchaseDate=2014-05-01 --key-file policy.key
            """
    )

    @Option(help: "What it is listed and revoked by, and what reasons and certificates call it.")
    var name: String

    @Option(name: .customLong("set"), help: ArgumentHelp("What is known of them.", valueName: "name=value"))
    var settings: [String] = []

    @OptionGroup var terms: PersonaTerms
    @OptionGroup var service: ServiceOptions

    @Flag(help: "Write JSON: the persona, with `token`.")
    var json = false

    func validate() throws { _ = try parsed() }

    private func parsed() throws -> [String: String] {
        var result: [String: String] = [:]
        for setting in settings {
            guard let sign = setting.firstIndex(of: "="), sign != setting.startIndex else {
                throw ValidationError("`\(setting)` is no setting; write originalAppVersion=37")
            }
            let name = String(setting[..<sign])
            guard result[name] == nil else { throw ValidationError("`\(name)` is set twice") }
            result[name] = String(setting[setting.index(after: sign)...])
        }
        if let platform = terms.platform {
            guard result["originalPlatform"] == nil else {
                throw ValidationError("--platform and --set originalPlatform say the same; leave out one")
            }
            result["originalPlatform"] = platform
        }
        return result
    }

    func run() async throws {
        try await reportingErrors {
            let settings = try parsed()
            let answer: PersonasAnswer = try await service.client().post("/v1/admin/personas") { body in
                body.key("name")
                body.value(name)
                body.key("set")
                body.value(settings)
                terms.write(into: &body)
            }
            guard let persona = answer.personas.first, let token = persona.token else {
                throw CommandError("the service made no persona")
            }
            if json { return answer.print() }
            Terminal.standardOutput.write(token)
            Terminal.standardError.write(persona.line)
        }
    }
}

struct PersonaReadyMadeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ready-made",
        abstract: "Make the customers whom every change must be rehearsed with, from the present policy.",
        discussion: """
            The first buyer, the last paid build, bought in the changeover window, after the change, a family member, \
            refunded, a pre-order, no original version, a Mac buyer on an iPhone: those whom the policy has a place \
            for, each with its token. Exit codes: 0 made, 1 refused, or no service answers, 64 wrong usage.

            Example:
              tenure persona ready-made --replace --key-file policy.key
            """
    )

    @OptionGroup var terms: PersonaTerms
    @OptionGroup var service: ServiceOptions

    @Flag(help: "Write JSON: `personas` with `token`, and `left` with `name` and `why`.")
    var json = false

    func run() async throws {
        try await reportingErrors {
            let answer: PersonasAnswer = try await service.client().post("/v1/admin/personas/ready-made") { body in
                if let platform = terms.platform {
                    body.key("platform")
                    body.value(platform)
                }
                terms.write(into: &body)
            }
            if json { return answer.print() }
            for persona in answer.personas {
                Terminal.standardOutput.write(persona.line)
                if let what = persona.what { Terminal.standardOutput.write("  \(Terminal.clean(what))") }
                if let token = persona.token { Terminal.standardOutput.write("  \(token)") }
            }
            for left in answer.left ?? [] {
                Terminal.standardOutput.write("\(left.name): left out, since \(Terminal.clean(left.why))")
            }
        }
    }
}

struct PersonaListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List all personas, also those that ended, and what the present policy makes of them.",
        discussion: """
            Example:
              tenure persona list --key-file policy.key
            """
    )

    @OptionGroup var service: ServiceOptions

    @Flag(help: "Write JSON: `personas` with `name`, `state`, `set`, `entitlements` and instants.")
    var json = false

    func run() async throws {
        try await reportingErrors {
            let answer: PersonasAnswer = try await service.client().get("/v1/admin/personas")
            if json { return answer.print() }
            for persona in answer.personas { Terminal.standardOutput.write(persona.line) }
        }
    }
}

struct PersonaRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Revoke a persona: its tokens stand for nobody from the next request on.",
        discussion: """
            Exit codes: 0 revoked, 1 no good persona has that name, 64 wrong usage.

            Example:
              tenure persona revoke early-buyer --key-file policy.key
            """
    )

    @Argument(help: "The name of the persona.")
    var name: String

    @OptionGroup var service: ServiceOptions

    func run() async throws {
        try await reportingErrors {
            let _: PersonasAnswer = try await service.client()
                .delete("/v1/admin/personas/\(ServiceClient.escaped(name))")
            Terminal.standardOutput.write("revoked `\(name)`")
        }
    }
}

extension PersonaAnswer {
    /// For people: `early-buyer  good until 2026-12-21T12:00:00Z  everything granted  (originalAppVersion 37, …)`.
    fileprivate var line: String {
        let end =
            switch state {
            case .good: "good until \(expiresAt)"
            case .expired: "expired \(expiresAt)"
            case .revoked: "revoked \(revokedAt ?? "")"
            }
        let outcomes = entitlements.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        let known = set.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        return Terminal.clean(
            [name, end, outcomes.joined(separator: ", "), "(\(known.joined(separator: ", ")))"].joined(separator: "  "))
    }
}

extension PersonasAnswer {
    fileprivate func print() {
        var json = JSONWriter(.readable)
        json.value(self)
        Terminal.standardOutput.write(json: json.bytes)
    }
}
