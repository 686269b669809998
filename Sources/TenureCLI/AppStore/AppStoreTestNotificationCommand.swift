import ArgumentParser
import Foundation
import Logging
import TenureCore
import TenureJSON
import TenureServer

struct AppStoreTestNotificationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test-notification",
        abstract: "Make the App Store send a test notification to your service, and print the result.",
        usage: "tenure app-store test-notification [production|sandbox] --config <file> [settings ...]",
        discussion: """
            Uses the service's key (`appStore.issuerID`, `appStore.keyID`, `appStore.privateKeyFile`) from the settings \
            of `tenure serve`. The App Store sends the notification to the URL that App Store Connect has for the \
            environment. The notification is about no customer.

            With several apps, each app is tested, even if another app fails.

            Exit codes: 0 the notification arrived, for all apps; 1 it didn't arrive, or the App Store didn't answer; \
            64 wrong usage.

            Examples:
              tenure app-store test-notification --config tenure.yaml
              tenure app-store test-notification sandbox --config tenure.yaml
            """
    )

    @Argument(parsing: .captureForPassthrough, help: .hidden)
    var settings: [String] = []

    func run() async throws {
        guard settings.allSatisfy({ $0 != "--help" && $0 != "-h" }) else { throw CleanExit.helpRequest(Self.self) }
        var arguments = settings[...]
        var environment = AppStoreEnvironment.production
        if let word = arguments.first, !word.hasPrefix("--") {
            switch word {
            case "production": break
            case "sandbox": environment = .sandbox
            default: throw ValidationError("the environment must be `production` or `sandbox`; found `\(word)`")
            }
            arguments = arguments.dropFirst()
        }
        let settings = try ServiceSettings(
            arguments: Array(arguments), environment: ProcessInfo.processInfo.environment)
        let configuration = try settings.validConfiguration()
        let configurations =
            settings.apps?.apps.map { ("\($0.name): ", $0.configuration) } ?? [("", configuration)]
        var haveArrived = true
        for (name, configuration) in configurations {
            let attempts: [NotificationTest.Attempt]
            do {
                attempts = try await NotificationTest(
                    configuration, logger: Logger(label: "tenure") { _ in SwiftLogNoOpLogHandler() }
                ).run(in: environment)
            } catch {
                // Test the other apps too.
                Terminal.standardError.write(error: error, of: name)
                haveArrived = false
                continue
            }
            for attempt in attempts {
                Terminal.standardOutput.write(
                    "\(name)\(attempt.date.map { $0.rfc3339 + " " } ?? "")\(attempt.result)")
            }
            if attempts.isEmpty {
                Terminal.standardOutput.write("\(name)the App Store hasn't sent the notification yet")
            }
            if attempts.last?.result != "SUCCESS" { haveArrived = false }
        }
        if !haveArrived { throw ExitCode.error }
    }
}
