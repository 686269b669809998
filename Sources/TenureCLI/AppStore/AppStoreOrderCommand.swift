import ArgumentParser
import Foundation
import TenureAPI
import TenureCore
import TenureJSON
import TenureServer

struct AppStoreOrderCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "order",
        abstract: "Find a customer by the order ID of an App Store receipt from their e-mail.",
        discussion: """
            The service asks the App Store what was bought, verifies the response, and prints the customers with these \
            purchases. It stores nothing. The service needs a key for the App Store (`appStore.privateKeyFile`). You \
            need a key from `tenure admin-key create` that may read.

            Exit codes: 0 a customer was found; 2 the ID isn't an order of the app, or no customer has it; 1 the App \
            Store or the service didn't answer; 64 wrong usage.

            Example:
              tenure app-store order MVWX6Y7Z8Q --service https://tenure.example.com \\
                  --key-file support.key
            """
    )

    @Argument(help: "The order ID in the App Store receipt.")
    var order: String

    @OptionGroup var service: ServiceOptions

    @Flag(help: "Print the service's response as JSON.")
    var json = false

    func run() async throws {
        let client = try service.client()
        let id = order.trimmingCharacters(in: .whitespaces)
        let data = try await client.send("GET", "/v1/admin/orders/\(ServiceClient.escaped(id))")
        let answer: OrderResponse = try client.decoded(data)
        if json {
            Terminal.standardOutput.write(json: Array(data))
        } else {
            for line in Self.lines(answer) { Terminal.standardOutput.write(Terminal.escaped(line)) }
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
