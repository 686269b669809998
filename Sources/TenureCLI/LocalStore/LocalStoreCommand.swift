import ArgumentParser
import Foundation
import LocalAppStore
import TenureJSON

struct LocalStoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "local-store",
        abstract: "Run an App Store for tests on your machine, with invented customers and an adjustable clock.",
        subcommands: [
            LocalStoreRunCommand.self, LocalStoreDoCommand.self, LocalStoreDeviceCommand.self,
            LocalStoreFaultCommand.self,
        ])
}

/// The running local App Store that a command uses.
struct LocalStoreOptions: ParsableArguments {
    @Option(
        help: .value(
            "url", "The URL of the running local App Store. Default: TENURE_LOCAL_STORE_URL, or http://127.0.0.1:8090"))
    var store: String?

    private var url: String {
        store ?? ProcessInfo.processInfo.environment["TENURE_LOCAL_STORE_URL"] ?? "http://127.0.0.1:8090"
    }

    /// Sends a request, and returns the store's response. Throws the reason if the store rejects the request, or if no
    /// store responds.
    func send(_ method: String, _ path: String, _ body: [UInt8]?) async throws -> JSONObject {
        guard let target = URL(string: url + path) else {
            throw CommandError("`\(url)` isn't the URL of a local App Store; write one such as http://127.0.0.1:8090")
        }
        let response: (status: Int, body: Data)
        do {
            response = try await exchange(method, target, body: body.map { Data($0) })
        } catch {
            throw CommandError("no local App Store responds at `\(url)`; start one with `tenure local-store run`")
        }
        if case .object(let object)? = try? JSONValue(parsing: Array(response.body)) {
            if response.status == 200 { return object }
            if let detail = object.text("error") { throw CommandError(detail) }
        }
        throw CommandError("the server at `\(url)` isn't a local App Store; check the address")
    }
}

struct LocalStoreDoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "do", abstract: "Perform an operation in a running local App Store.",
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
            """)

    @Argument(help: "The operation to perform, such as buy.") var operation: String

    @Argument(help: "The operation's parameters: name=value.") var parameters: [String] = []

    @OptionGroup var localStore: LocalStoreOptions

    @Flag(help: "Print the local App Store's response as JSON.") var json = false

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
                guard let (name, value) = parameter.nameAndValue else {
                    throw ValidationError("`\(parameter)` isn't a parameter; write name=value")
                }
                try result.set(name, to: value)
            }
            try result.checkCompleteness()
        } catch let mistake as OperationMistake {
            throw ValidationError(mistake.description)
        }
        return result
    }

    func run() async throws {
        let answer = try await localStore.send("POST", "/control/operations", JSONValue.object(try parsed().json).bytes)
        if json { return terminal.write(json: JSONValue.object(answer).bytes) }
        if let now = answer.text("now") { terminal.write("it is \(now)") }
        for notification in answer.objects("notifications") {
            var words = ["date", "type", "subtype", "transactionId"].compactMap { notification.text($0) }
            if let order = notification.text("orderId") { words += ["order", order] }
            terminal.write(words.joined(separator: " "))
        }
    }
}

struct LocalStoreDeviceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device", abstract: "Print what a customer's device would send, from a running local App Store.",
        discussion: """
            --out writes a file with the app transaction, transactions and renewal infos, one JWS per line, as \
            `tenure decide` reads them. The receipt goes into a second file, with the suffix `.receipt`. Without --out, \
            the command prints everything as JSON.

            Example:
              tenure local-store device Ada --out ada.jws && tenure decide \\
                  --policy policy.yaml --trust var/local-store/authority ada.jws
            """)

    @Argument(help: "The customer's name.") var customer: String

    @OptionGroup var localStore: LocalStoreOptions

    @Option(help: .value("file", "The file to write.")) var out: String?

    @OptionGroup var replacing: ReplaceOption

    func run() async throws {
        try FilePlan(writing: [out, out.map { $0 + ".receipt" }]).check(replacing: replacing.force)
        guard let escapedCustomer = customer.addingPercentEncoding(withAllowedCharacters: .alphanumerics) else {
            throw CommandError("`\(customer)` can't be the name of a customer; use letters and digits")
        }
        let answer = try await localStore.send("GET", "/control/customers/\(escapedCustomer)", nil)
        guard let out else { return terminal.write(json: JSONValue.object(answer).bytes) }
        var lines: [String] = []
        if let appTransaction = answer.text("appTransaction") { lines.append(appTransaction) }
        lines += answer.texts("transactions") + answer.texts("renewalInfos")
        try OutputFile(path: out, replaces: replacing.force).write(Array(lines.joined(separator: "\n").utf8))
        if let receipt = answer.text("receipt") {
            try OutputFile(path: out + ".receipt", replaces: replacing.force).write(Array(receipt.utf8))
        }
    }
}

struct LocalStoreFaultCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fault", abstract: "Make the App Store Server API of a running local App Store fail.",
        discussion: """
            Tests how a server handles errors. The codes 5000001, 4040002, 4040004 and 4040006 mean that the server may \
            retry. The response with 4290000 has a `Retry-After` header.

            Example:
              tenure local-store fault 5000001 --requests 3
            """)

    @Argument(help: "The error code of the response.") var code: Int

    @Option(help: "The number of requests that fail; 0 ends the fault.") var requests = 1

    @OptionGroup var localStore: LocalStoreOptions

    func run() async throws {
        let body: JSONObject = ["code": .number(String(code)), "requests": .number(String(requests))]
        let answer = try await localStore.send("POST", "/control/fault", JSONValue.object(body).bytes)
        guard let message = answer.text("message") else { return }
        terminal.write(
            requests == 0
                ? "the fault has ended" : "the next \(counted(requests, "request")) will fail with \(code) \(message)")
    }
}
