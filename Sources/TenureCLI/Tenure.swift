import ArgumentParser
import Foundation
import TenureCore

#if !Service
    #error("the command needs the package trait `Service`: build with `make`, or with `swift build --traits Service`")
#endif

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

    /// Ends the process like ArgumentParser, but hides passwords: ArgumentParser's messages repeat arguments.
    private static func finish(_ error: any Error) -> Never {
        let code = exitCode(for: error)
        let message = fullMessage(for: error)
        guard !message.isEmpty, code != .success else { exit(withError: error) }
        Terminal.standardError.write(message.hidingCredentials)
        Foundation.exit(code.rawValue)
    }

    /// Throws if an argument, or the value of an option, is empty, such as from an unset variable of a shell. An empty
    /// path would name the current folder, and no argument has an empty value with a meaning.
    private static func checkForEmptyValues(_ arguments: [String]) throws {
        // ArgumentParser's scripts for completion pass the empty word that the user is about to write.
        guard arguments.first?.hasPrefix("---") != true else { return }
        // After `--`, an argument such as `--x=` is a path.
        let endOfOptions = arguments.firstIndex(of: "--") ?? arguments.endIndex
        for (index, argument) in arguments.enumerated() {
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
                // ArgumentParser itself runs `tenure help`.
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

/// Excludes this machine's addresses from the proxies in the environment, which Foundation on Linux also applies to
/// them. Otherwise keys for a local service would be sent to the proxy, which couldn't reach that service.
///
/// Call this before anything else, because it changes the environment of the process.
private func excludeThisMachineFromProxies() {
    let environment = ProcessInfo.processInfo.environment
    let present = ["no_proxy", "NO_PROXY"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
    // `*` alone disables all proxies. In a list it has no effect.
    guard present != "*" else { return }
    let names = (present.isEmpty ? [] : [present]) + ["localhost", "127.0.0.1", "::1", "[::1]"]
    setenv("no_proxy", names.joined(separator: ","), 1)
}
