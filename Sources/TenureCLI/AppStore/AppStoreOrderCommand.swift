import ArgumentParser
import Foundation
import TenureAPI
import TenureCore
import TenureJSON

struct AppStoreOrderCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "order",
        abstract: "Find a customer by the order id of an App Store receipt, as it came by e-mail.",
        discussion: """
            The service asks the App Store what was bought under that id, verifies what it answers, and says whom the \
            record knows by it. Nothing is recorded. The service needs a key for the App Store \
            (`appStore.privateKeyFile`), and you one of `tenure key create` that may read.

            Exit codes: 0 somebody was found; 2 the id is no order of the app, or nobody is known by it; 1 the App \
            Store could not be asked, or no service answers; 64 wrong usage.

            Example:
              tenure appstore order MVWX6Y7Z8Q --service https://tenure.example.com --key-file support.key
            """
    )

    @Argument(help: "The id, as it stands in the receipt.")
    var order: String

    @OptionGroup var service: ServiceOptions

    @Flag(help: "Write JSON: the service's answer.")
    var json = false

    func run() async throws {
        try await reportingErrors {
            let client = try service.client()
            let id = order.trimmingCharacters(in: .whitespaces)
            let data = try await client.send("GET", "/v1/admin/orders/\(ServiceClient.escaped(id))")
            guard let answer = try? JSONDecoder().decode(OrderResponse.self, from: data) else {
                throw CommandError(
                    "the service at `\(client.url)` answers what this release does not know; use its own release")
            }
            let terminal = Terminal.standardOutput
            if json {
                terminal.write(String(decoding: data, as: UTF8.self))
            } else {
                for line in Self.lines(answer) { terminal.write(Terminal.clean(line)) }
            }
            guard !answer.customers.isEmpty else { throw ExitCode.refused }
        }
    }

    private static func lines(_ answer: OrderResponse) -> [String] {
        guard answer.isValid else { return ["the App Store knows no such order of this app"] }
        var lines = answer.purchases.map { purchase in
            "\(purchase.productID), transaction \(purchase.transactionID)"
                + (purchase.purchaseDate.map { ", bought \($0.rfc3339)" } ?? "")
                + (purchase.revocationDate.map { ", taken back \($0.rfc3339)" } ?? "")
        }
        lines += answer.problems.map { "not counted: \($0.artifact): \($0.detail)" }
        lines += answer.customers.map { "customer \($0.id) (\($0.environment))" }
        if answer.customers.isEmpty { lines.append("the record knows nobody by it; their app has not synced it yet") }
        return lines
    }
}
