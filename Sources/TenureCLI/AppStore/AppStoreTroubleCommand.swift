import ArgumentParser
import Foundation
import TenureAppStore
import TenureJSON

struct AppStoreTroubleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trouble",
        abstract: "Let the App Store Server API of a running local store refuse requests.",
        discussion: """
            For rehearsing what a server does then: 5000001, 4040002, 4040004 and 4040006 can be tried again, and \
            4290000 comes with `Retry-After`.

            Example:
              tenure appstore trouble 5000001 --requests 3
            """
    )

    @Argument(help: "The code that it answers with.")
    var code: Int

    @Option(help: "How many requests it refuses; 0 ends it.")
    var requests = 1

    @OptionGroup var place: StoreOptions

    func run() async throws {
        try await reportingErrors {
            let body = JSONObject(members: [
                .init(name: "code", value: .number(String(code))),
                .init(name: "requests", value: .number(String(requests))),
            ])
            let answer = try await place.send("POST", "/control/trouble", JSONValue.object(body).bytes)
            guard case .string(let message)? = answer["message"] else { return }
            Terminal.standardOutput.write("the next \(requests) requests are refused: \(code) \(message)")
        }
    }
}
