import ArgumentParser
import Foundation
import LocalAppStore
import TenureAppStore
import TenureJSON

struct LocalStoreDeviceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device",
        abstract: "Print what a customer's device would send, from a running local App Store.",
        discussion: """
            --out writes a file with the app transaction, transactions and renewal infos, one JWS per line, as \
            `tenure decide` reads them. The receipt goes into a second file, with the suffix `.receipt`. Without --out, \
            the command prints everything as JSON.

            Example:
              tenure local-store device Ada --out ada.jws && tenure decide \\
                  --policy policy.yaml --trust var/local-store/authority ada.jws
            """
    )

    @Argument(help: "The customer's name.")
    var customer: String

    @OptionGroup var localStore: LocalStoreOptions

    @Option(help: ArgumentHelp("The file to write.", valueName: "file"))
    var out: String?

    @OptionGroup var replacing: ReplaceOption

    func run() async throws {
        try FilePlan(writing: [out, out.map { $0 + ".receipt" }]).check(replacing: replacing.force)
        guard let name = customer.addingPercentEncoding(withAllowedCharacters: .alphanumerics) else {
            throw CommandError("`\(customer)` can't be the name of a customer; use letters and digits")
        }
        let answer = try await localStore.send("GET", "/control/customers/\(name)", nil)
        guard let out else {
            Terminal.standardOutput.write(json: JSONValue.object(answer).bytes)
            return
        }
        var lines: [String] = []
        for name in ["appTransaction", "transactions", "renewalInfos"] {
            lines += answer.text(name).map { [$0] } ?? answer.texts(name)
        }
        try OutputFile(path: out, replaces: replacing.force).write(Array(lines.joined(separator: "\n").utf8))
        if let receipt = answer.text("receipt") {
            try OutputFile(path: out + ".receipt", replaces: replacing.force).write(Array(receipt.utf8))
        }
    }
}
