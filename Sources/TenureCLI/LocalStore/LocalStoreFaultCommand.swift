import ArgumentParser
import Foundation
import TenureAppStore
import TenureJSON

struct LocalStoreFaultCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fault",
        abstract: "Make the App Store Server API of a running local App Store fail.",
        discussion: """
            Tests how a server handles errors. The codes 5000001, 4040002, 4040004 and 4040006 mean that the server may \
            retry. The response with 4290000 has a `Retry-After` header.

            Example:
              tenure local-store fault 5000001 --requests 3
            """
    )

    @Argument(help: "The error code of the response.")
    var code: Int

    @Option(help: "The number of requests that fail; 0 ends the fault.")
    var requests = 1

    @OptionGroup var localStore: LocalStoreOptions

    func run() async throws {
        let body: JSONObject = ["code": .number(String(code)), "requests": .number(String(requests))]
        let answer = try await localStore.send("POST", "/control/fault", JSONValue.object(body).bytes)
        guard let message = answer.text("message") else { return }
        Terminal.standardOutput.write(
            requests == 0
                ? "the fault has ended" : "the next \(counted(requests, "request")) will fail with \(code) \(message)")
    }
}
