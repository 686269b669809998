import ArgumentParser
import Foundation
import TenureServer

struct PersonaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "persona", abstract: "Create, list and revoke test customers for sandbox builds.",
        discussion: """
            A persona is an invented customer with a token. A sandbox build sends the token when it syncs. The service then \
            responds as if the build's user were that customer. The token has no effect if the app sends artifacts from \
            production. Docs/personas.md explains personas.
            """,
        subcommands: [
            PersonaCreateCommand.self, PersonaReadyMadeCommand.self, PersonaListCommand.self, PersonaRevokeCommand.self,
        ])
}

/// The options that `create` and `ready-made` share.
struct PersonaOptions: ParsableArguments {
    @Option(help: "The platform on which the customer acquired the app: iOS, macOS, tvOS, watchOS or visionOS.")
    var platform: String?

    @Option(
        help:
            "When the personas expire (2026-12-31, 2026-12-31T18:00:00Z). A day means 00:00 UTC. Default: after 30 days.",
        transform: Date.init(argument:))
    var expires: Date?

    @Flag(help: "Revoke valid personas of the same name, and replace them.") var replace = false
}

struct PersonaCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Create a persona and print its token.",
        discussion: """
            --set gives a field of the customer's app transaction: originalPlatform, originalAppVersion, \
            originalPurchaseDate, preorderDate, revocationDate or expirationDate. Other fields are missing.

            Exit codes: 0 created, 1 refused, or no service responds, 64 wrong usage.

            Example:
              tenure persona create --name early-buyer --platform iOS \\
                  --set originalAppVersion=37 --set originalPurchaseDate=2014-05-01 \\
                  --key-file policy.key
            """)

    @Option(help: "The persona's name in lists, reasons and entitlement tokens.") var name: String

    @Option(
        name: .customLong("set"),
        help: .value("name=value", "A field of the customer's app transaction. Repeatable."))
    var settings: [String] = []

    @OptionGroup var options: PersonaOptions
    @OptionGroup var service: ServiceOptions

    @Flag(help: "Write JSON: the persona, with `token`.") var json = false

    func validate() throws { _ = try parsed() }

    /// Returns the fields of the app transaction, from `--set` and `--platform`.
    private func parsed() throws -> [String: String] {
        var result: [String: String] = [:]
        for setting in settings {
            guard let (name, value) = setting.nameAndValue, !name.isEmpty else {
                throw ValidationError(
                    "`\(setting)` isn't a field with a value; write one such as originalAppVersion=37")
            }
            try require(result[name] == nil, "`\(name)` is set twice; keep one")
            result[name] = value
        }
        if let platform = options.platform {
            try require(
                result["originalPlatform"] == nil,
                "--platform and --set originalPlatform set the same field; keep one")
            result["originalPlatform"] = platform
        }
        return result
    }

    func run() async throws {
        let settings = try parsed()
        let answer: PersonasAnswer = try await service.client().post(
            "/v1/admin/personas",
            PersonaRequest(name: name, set: settings, expires: options.expires, replace: options.replace))
        guard let persona = answer.personas.first, let token = persona.token else {
            throw CommandError("the service created no persona; check its log")
        }
        if json { return terminal.write(encoded: answer) }
        terminal.write(token)
        Terminal.standardError.write(persona.line)
    }
}

struct PersonaReadyMadeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ready-made",
        abstract: "Create the personas that every release should be tested with, from the current policy.",
        discussion: """
            Creates these personas, if the policy makes them possible, and prints their tokens: the first buyer, a buyer of \
            the last paid build, a buyer in the changeover window, a customer after the change. Also a family member, a \
            refunded buyer, a pre-order, a customer without original version, and a Mac buyer on an iPhone. The changeover \
            window is the time around the change of the business model, in which price and build can disagree.

            Exit codes: 0 created, 1 refused, or no service responds, 64 wrong usage.

            Example:
              tenure persona ready-made --replace --key-file policy.key
            """)

    @OptionGroup var options: PersonaOptions
    @OptionGroup var service: ServiceOptions

    @Flag(help: "Write JSON: `personas` with `token`, and `omitted` with `name` and `why`.")
    var json = false

    func run() async throws {
        let answer: PersonasAnswer = try await service.client().post(
            "/v1/admin/personas/ready-made",
            ReadyMadePersonasRequest(platform: options.platform, expires: options.expires, replace: options.replace))
        if json { return terminal.write(encoded: answer) }
        for persona in answer.personas {
            terminal.write(persona.line)
            if let what = persona.what { terminal.write("  \(Terminal.escaped(what))") }
            if let token = persona.token { terminal.write("  \(token)") }
        }
        for omitted in answer.omitted ?? [] {
            terminal.write("\(omitted.name): left out, because \(Terminal.escaped(omitted.why))")
        }
    }
}

struct PersonaListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List all personas, including expired ones, and what the current policy gives them.",
        discussion: """
            Example:
              tenure persona list --key-file policy.key
            """)

    @OptionGroup var service: ServiceOptions

    @Flag(help: "Write JSON: `personas` with `name`, `state`, `set`, `entitlements` and instants.")
    var json = false

    func run() async throws {
        let answer: PersonasAnswer = try await service.client().get("/v1/admin/personas")
        if json { return terminal.write(encoded: answer) }
        for persona in answer.personas { terminal.write(persona.line) }
    }
}

struct PersonaRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Revoke a persona. The service ignores its token from the next request on.",
        discussion: """
            Exit codes: 0 revoked, 1 no valid persona has that name, or no service responds, 64 wrong usage.

            Example:
              tenure persona revoke early-buyer --key-file policy.key
            """)

    @Argument(help: "The name of the persona.") var name: String

    @OptionGroup var service: ServiceOptions

    func run() async throws {
        let _: PersonasAnswer = try await service.client()
            .delete("/v1/admin/personas/\(ServiceClient.escaped(name))")
        terminal.write("revoked `\(name)`")
    }
}

extension PersonaAnswer {
    /// One line of text: `early-buyer  valid until 2026-12-21T12:00:00Z  everything granted  (originalAppVersion 37,
    /// …)`.
    fileprivate var line: String {
        let end =
            switch state {
            case .valid: "valid until \(expiresAt)"
            case .expired: "expired \(expiresAt)"
            case .revoked: "revoked \(revokedAt ?? "")"
            }
        let outcomes = entitlements.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        let facts = set.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        return Terminal.escaped(
            [name, end, outcomes.joined(separator: ", "), "(\(facts.joined(separator: ", ")))"].joined(separator: "  "))
    }
}
