import ArgumentParser
import Foundation
import Logging
import TenureAPI
import TenureCore
import TenureJSON
import TenureServer

struct AppStoreServerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app-store", abstract: "Ask Apple's App Store Server API with the service's key.",
        subcommands: [AppStoreOrderCommand.self, AppStoreTestNotificationCommand.self])
}

struct AppStoreOrderCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "order", abstract: "Find a customer by the order ID of an App Store receipt from their e-mail.",
        discussion: """
            The service asks the App Store what was bought, verifies the response, and prints the customers with these \
            purchases. It stores nothing. The service needs a key for the App Store (`appStore.privateKeyFile`). You \
            need a key from `tenure admin-key create` that may read.

            Exit codes: 0 a customer was found; 2 the ID isn't an order of the app, or no customer has it; 1 the App \
            Store or the service didn't answer; 64 wrong usage.

            Example:
              tenure app-store order MVWX6Y7Z8Q --service https://tenure.example.com \\
                  --key-file support.key
            """)

    @Argument(help: "The order ID in the App Store receipt.") var order: String

    @OptionGroup var service: ServiceOptions

    @Flag(help: "Print the service's response as JSON.") var json = false

    func run() async throws {
        let client = try service.client()
        let id = order.trimmingCharacters(in: .whitespaces)
        let data = try await client.send("GET", "/v1/admin/orders/\(ServiceClient.escaped(id))")
        let answer: OrderResponse = try client.decoded(data)
        if json {
            terminal.write(json: Array(data))
        } else {
            for line in Self.lines(answer) { terminal.write(Terminal.escaped(line)) }
        }
        guard !answer.customers.isEmpty else { throw ExitCode.refused }
    }

    /// Returns the text output: the purchases of the order, then the customers who have them.
    private static func lines(_ answer: OrderResponse) -> [String] {
        guard answer.isValid else { return ["the App Store has no such order of this app"] }
        var lines = answer.purchases.map { purchase in
            "\(purchase.productID), transaction \(purchase.transactionID)"
                + (purchase.purchaseDate.map { ", bought \($0.rfc3339)" } ?? "")
                + (purchase.revocationDate.map { ", revoked \($0.rfc3339)" } ?? "")
        }
        lines += answer.problems.map { "rejected: \($0.artifact): \($0.detail)" }
        lines += answer.customers.map { "customer \($0.id) (\($0.environment))" }
        if answer.customers.isEmpty { lines.append("no customer has this order; the app may not have synced it yet") }
        return lines
    }
}

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
            """)

    // `ServiceSettings` parses these arguments, so ArgumentParser passes all of them on, even `--help`.
    @Argument(parsing: .captureForPassthrough, help: .hidden) var settings: [String] = []

    func run() async throws {
        guard settings.allSatisfy({ $0 != "--help" && $0 != "-h" }) else { throw CleanExit.helpRequest(Self.self) }
        var arguments = settings[...]
        var environment = AppStoreEnvironment.production
        if let word = arguments.first, !word.hasPrefix("--") {
            switch word {
            case "production": environment = .production
            case "sandbox": environment = .sandbox
            default: throw ValidationError("the environment must be `production` or `sandbox`; found `\(word)`")
            }
            arguments = arguments.dropFirst()
        }
        let parsed = try ServiceSettings(
            arguments: Array(arguments), environment: ProcessInfo.processInfo.environment)
        let configuration = try parsed.validConfiguration()
        // With several apps, each line of the output begins with the app's name.
        let configurations = parsed.apps?.apps.map { ("\($0.name): ", $0.configuration) } ?? [("", configuration)]
        var haveArrived = true
        for (prefix, configuration) in configurations {
            do {
                let logger = Logger(label: "tenure") { _ in SwiftLogNoOpLogHandler() }
                let attempts = try await NotificationTest(configuration, logger: logger).run(in: environment)
                for attempt in attempts {
                    let date = attempt.date.map { $0.rfc3339 + " " } ?? ""
                    terminal.write("\(prefix)\(date)\(attempt.result)")
                }
                if attempts.isEmpty { terminal.write("\(prefix)the App Store hasn't sent the notification yet") }
                if attempts.last?.result != "SUCCESS" { haveArrived = false }
            } catch {
                // Test the other apps too.
                Terminal.standardError.write(error: error, of: prefix)
                haveArrived = false
            }
        }
        if !haveArrived { throw ExitCode.error }
    }
}
