import ArgumentParser
import Foundation
import LocalAppStore
import TenureAppStore
import TenureJSON

struct LocalStoreDoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "do",
        abstract: "Perform an operation in a running local App Store.",
        discussion: """
            Prints the notifications that the operation causes. Write parameters as name=value. Parameters with an \
            asterisk are required.

            \(operations)

            Exit codes: 0 done, 1 the operation isn't possible or no local App Store responds, 64 wrong usage.

            Examples:
              tenure local-store do customer customer=Ada
              tenure local-store do acquire customer=Ada platform=iOS
              tenure local-store do buy customer=Ada product=com.example.calculator.yearly
              tenure local-store do advance by=31d
            """
    )

    @Argument(help: "The operation to perform, such as buy.")
    var operation: String

    @Argument(help: "The operation's parameters: name=value.")
    var parameters: [String] = []

    @OptionGroup var localStore: LocalStoreOptions

    @Flag(help: "Print the local App Store's response as JSON.")
    var json = false

    private static let operations = AppStoreOperation.Kind.allCases.map { kind in
        let parameters = kind.parameters.map { "\($0.name.rawValue)\($0.isRequired ? "*" : "")" }
        return "  \(kind.rawValue) \(parameters.joined(separator: " "))\n      \(kind.summary)"
    }.joined(separator: "\n")

    func validate() throws { _ = try parsed() }

    /// Returns the operation that the arguments describe. Throws a `ValidationError` with the first mistake.
    private func parsed() throws -> AppStoreOperation {
        guard let kind = AppStoreOperation.Kind(rawValue: operation) else {
            throw ValidationError(OperationMistake(unknown: operation).description)
        }
        var result = AppStoreOperation(kind)
        do {
            for parameter in parameters {
                let parts = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2 else {
                    throw ValidationError("`\(parameter)` isn't a parameter; write name=value")
                }
                try result.set(String(parts[0]), to: String(parts[1]))
            }
            try result.checkCompleteness()
        } catch let mistake as OperationMistake {
            throw ValidationError(mistake.description)
        }
        return result
    }

    func run() async throws {
        let answer = try await localStore.send(
            "POST", "/control/operations", JSONValue.object(try parsed().json).bytes)
        if json {
            Terminal.standardOutput.write(json: JSONValue.object(answer).bytes)
            return
        }
        if let now = answer.text("now") { Terminal.standardOutput.write("it is \(now)") }
        for notification in answer.objects("notifications") {
            var words = ["date", "type", "subtype", "transactionId"].compactMap { notification.text($0) }
            if let order = notification.text("orderId") { words += ["order", order] }
            Terminal.standardOutput.write(words.joined(separator: " "))
        }
    }
}
