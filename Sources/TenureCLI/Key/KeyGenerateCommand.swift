import ArgumentParser
import TenureServer

struct KeyGenerateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate",
        abstract: "Make the admin key of a configuration (`adminKeyFile`).",
        discussion: """
            The key is written to a new file with mode 600, or printed. Such a key opens everything; for people and \
            servers make keys with `tenure key create`, which can be revoked one by one.

            Exit codes: 0 made, 1 the file exists or cannot be made, 64 wrong usage.

            Examples:
              tenure key generate --out /etc/tenure/admin-key
              tenure key generate | kubectl create secret generic tenure --from-file=admin-key=/dev/stdin
            """
    )

    @Option(help: ArgumentHelp("The file to make; without it, the key is printed.", valueName: "file"))
    var out: String?

    func run() async throws {
        try await reportingErrors {
            let key = KeySecret()
            guard let out else { return Terminal.standardOutput.write(key.text) }
            try SecretFile(path: out).make(Array((key.text + "\n").utf8))
            Terminal.standardError.write("made `\(out)`")
        }
    }
}
