import ArgumentParser
import Foundation
import TenureCore

#if !Service
    #error("the command needs the package trait `Service`: build with `make`, or with `swift build --traits Service`")
#endif

/// The command `tenure`. `tenure --help` lists its subcommands.
@main struct Tenure: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tenure",
        abstract: "Change your app's business model, and keep every promise to the people who already paid.",
        version: "0.1.0",
        subcommands: [
            InspectCommand.self, DecideCommand.self, PolicyCommand.self, RehearseCommand.self, MintCommand.self,
            ServeCommand.self, DemoCommand.self, DatabaseCommand.self, AdminKeyCommand.self, SigningKeyCommand.self,
            WebhookCommand.self, AppStoreServerCommand.self, LocalStoreCommand.self, ScenarioCommand.self,
            PersonaCommand.self, ContentCommand.self, AppsCommand.self,
        ])

    /// Ends the process as ArgumentParser does. ArgumentParser's messages repeat arguments, which may contain
    /// passwords, so this function hides passwords in them.
    private static func finish(_ error: any Error) -> Never {
        let code = exitCode(for: error)
        let message = fullMessage(for: error)
        guard !message.isEmpty, code != .success else { exit(withError: error) }
        Terminal.standardError.write(message.hidingCredentials)
        Foundation.exit(code.rawValue)
    }

    /// Throws if an argument or the value of an option is empty, for example because a shell variable isn't set. No
    /// argument of `tenure` may be empty. An empty path would otherwise name the current folder.
    private static func checkForEmptyValues(_ arguments: [String]) throws {
        // ArgumentParser's completion scripts pass `---completion`, and the word that the user is about to write. That
        // word may be empty.
        guard arguments.first?.hasPrefix("---") != true else { return }
        // After `--`, an argument such as `--x=` is a path.
        let endOfOptions = arguments.firstIndex(of: "--") ?? arguments.endIndex
        for (index, argument) in arguments.enumerated() {
            // `--name=`: the first `=` is the last character.
            let isOptionWithoutValue =
                index < endOfOptions && argument.hasPrefix("--")
                && argument.firstIndex(of: "=") == argument.indices.last
            guard argument.isEmpty || isOptionWithoutValue else { continue }
            let previous = index > 0 ? arguments[index - 1] : ""
            let emptyPart =
                isOptionWithoutValue
                ? "the value of `\(argument.dropLast())`"
                : previous.hasPrefix("--") ? "the argument after `\(previous)`" : "an argument"
            throw ValidationError("\(emptyPart) is empty; pass a value, such as a path, or leave it out")
        }
    }

    static func main() async {
        excludeThisMachineFromProxies()
        var command: any AsyncParsableCommand
        do {
            try checkForEmptyValues(Array(ProcessInfo.processInfo.arguments.dropFirst()))
            var parsed = try parseAsRoot()
            guard let asyncCommand = parsed as? any AsyncParsableCommand else {
                // Only `tenure help` isn't asynchronous, because ArgumentParser itself provides it.
                return try parsed.run()
            }
            command = asyncCommand
        } catch {
            finish(error)
        }
        do {
            try await command.run()
        } catch let error where error is ExitCode || error is CleanExit || error is ValidationError {
            finish(error)
        } catch {
            Terminal.standardError.write(error: error)
            Foundation.exit(ExitCode.error.rawValue)
        }
    }
}

/// Excludes this machine's addresses from the proxies that the environment sets. Otherwise Foundation on Linux would
/// send a request for a local service, with its key, to the proxy, which can't reach that service.
///
/// Call this before anything else: it calls `setenv`, which isn't safe while other threads read the environment.
private func excludeThisMachineFromProxies() {
    let environment = ProcessInfo.processInfo.environment
    let present = ["no_proxy", "NO_PROXY"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
    // `*` alone disables all proxies. Don't add names to it, because it has no effect in a list.
    guard present != "*" else { return }
    let names = (present.isEmpty ? [] : [present]) + ["localhost", "127.0.0.1", "::1", "[::1]"]
    setenv("no_proxy", names.joined(separator: ","), 1)
}
