import ArgumentParser
import Foundation
import LocalAppStore
import TenureAppStore
import TenureJSON

struct AppStoreDoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "do",
        abstract: "Let something happen in a running local App Store.",
        discussion: """
            Prints the notifications that it caused. Particulars are written name=value; an asterisk marks those that \
            an act needs.

            \(acts)

            Exit codes: 0 done, 1 it cannot happen or there is no store, 64 wrong usage.

            Examples:
              tenure appstore do customer customer=Ada
              tenure appstore do acquire customer=Ada platform=iOS
              tenure appstore do buy customer=Ada product=com.example.calculator.yearly
              tenure appstore do advance by=31d
            """
    )

    @Argument(help: "What happens.")
    var act: String

    @Argument(help: "Its particulars: name=value.")
    var particulars: [String] = []

    @OptionGroup var place: StoreOptions

    @Flag(help: "Write the store's answer as JSON.")
    var json = false

    private static let acts = Verb.allCases.map { verb in
        let particulars = verb.particulars.map { "\($0.name.rawValue)\($0.isRequired ? "*" : "")" }
        return "  \(verb.rawValue) \(particulars.joined(separator: " "))\n      \(verb.summary)"
    }.joined(separator: "\n")

    func validate() throws { _ = try parsed() }

    private func parsed() throws -> Act {
        guard let verb = Verb(rawValue: act) else { throw ValidationError(ActMistake(unknown: act).description) }
        var result = Act(verb)
        do {
            for particular in particulars {
                let parts = particular.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2 else {
                    throw ValidationError("`\(particular)` is no particular; write name=value")
                }
                try result.set(String(parts[0]), to: String(parts[1]))
            }
            try result.checkCompleteness()
        } catch let mistake as ActMistake {
            throw ValidationError(mistake.description)
        }
        return result
    }

    func run() async throws {
        try await reportingErrors {
            let answer = try await place.send("POST", "/control/acts", JSONValue.object(try parsed().json).bytes)
            if json {
                Terminal.standardOutput.write(json: JSONValue.object(answer).bytes)
                return
            }
            if case .string(let now)? = answer["now"] { Terminal.standardOutput.write("it is \(now)") }
            guard case .array(let told)? = answer["notifications"] else { return }
            for case .object(let notification) in told {
                func word(_ name: String) -> String? {
                    if case .string(let text)? = notification[name] { text } else { nil }
                }
                var words = ["date", "type", "subtype", "transactionId"].compactMap(word)
                if let order = word("orderId") { words += ["order", order] }
                Terminal.standardOutput.write(words.joined(separator: " "))
            }
        }
    }
}
