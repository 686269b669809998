import ArgumentParser
import Foundation
import TenureServer

struct AppsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apps", abstract: "List the apps of a running service, or reload its configuration.",
        discussion: """
            For a service with several apps. The commands need the admin key at the top level of the configuration, \
            not the key of an app. Docs/service.md explains several apps.
            """,
        subcommands: [AppsListCommand.self, AppsReloadCommand.self])
}

extension AppsAnswer {
    /// A line for each app, such as `notes  ok  com.example.notes  (default)`.
    fileprivate var lines: [String] {
        let width = apps.map(\.name.count).max() ?? 0
        return apps.map { app in
            let name = Terminal.escaped(app.name).padding(toLength: width, withPad: " ", startingAt: 0)
            let reason = [app.reason, app.detail].compactMap(\.self).joined(separator: ": ")
            return Terminal.escaped(
                "\(name)  \(app.status)  \(app.bundleID)\(app.name == self.default ? "  (default)" : "")"
                    + (reason.isEmpty ? "" : "  \(reason)"))
        }
    }
}

struct AppsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the apps of a running service, and why some don't run.",
        discussion: """
            Exit codes: 0 listed, 1 refused, or no service responds, 64 wrong usage.

            Example:
              tenure apps list --key-file admin.key
            """)

    @OptionGroup var service: ServiceOptions

    @Flag(help: "Write JSON: the service's response to `GET /v1/admin/apps`.") var json = false

    func run() async throws {
        let client = try service.client()
        let body = try await client.send("GET", "/v1/admin/apps")
        if json { return terminal.write(json: Array(body)) }
        let answer: AppsAnswer = try client.decoded(body)
        answer.lines.forEach { terminal.write($0) }
    }
}

struct AppsReloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Reload the configuration of a running service: apps, settings, and the files that they name.",
        discussion: """
            The service reads the same files as at a start. It starts new apps, stops removed ones, and applies new \
            settings to the others. A changed policy file isn't published: for that, use `tenure policy publish`. If the \
            configuration has a mistake, no app or setting changes. The files of the TLS certificate are read again in \
            any case. Settings of the whole service, such as the port, need a restart.

            Exit codes: 0 reloaded, 1 the configuration has mistakes, an app doesn't run, or no service responds, \
            64 wrong usage.

            Example:
              tenure apps reload --key-file admin.key
            """)

    @OptionGroup var service: ServiceOptions

    @Flag(help: "Write JSON: the service's response to `POST /v1/admin/apps/reload`.")
    var json = false

    func run() async throws {
        let client = try service.client()
        let body = try await client.send("POST", "/v1/admin/apps/reload")
        let answer: AppsAnswer = try client.decoded(body)
        if json {
            terminal.write(json: Array(body))
        } else {
            for warning in answer.warnings ?? [] {
                Terminal.standardError.write("warning: \(Terminal.escaped(warning))")
            }
            let changes = [("added", answer.added), ("removed", answer.removed), ("reloaded", answer.reloaded)]
            for (verb, names) in changes {
                guard let names, !names.isEmpty else { continue }
                terminal.write("\(verb): \(Terminal.escaped(names.joined(separator: ", ")))")
            }
            answer.lines.forEach { terminal.write($0) }
        }
        if answer.apps.contains(where: { $0.status != "ok" }) { throw ExitCode.error }
    }
}
