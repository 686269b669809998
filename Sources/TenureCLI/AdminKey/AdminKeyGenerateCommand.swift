import ArgumentParser
import TenureServer

struct AdminKeyGenerateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate",
        abstract: "Make the admin key for the setting `adminKeyFile`.",
        discussion: """
            Writes the key to a new file with mode 600, or prints the key. The service accepts this key for all \
            requests to the admin API. For people and servers, make keys with `tenure admin-key create`. You can \
            revoke each of those keys separately.

            Exit codes: 0 made, 1 the file exists or can't be written, 64 wrong usage.

            Examples:
              tenure admin-key generate --out /etc/tenure/admin-key
              tenure admin-key generate | kubectl create secret generic tenure \\
                  --from-file=admin-key=/dev/stdin
            """
    )

    @Option(help: ArgumentHelp("The file to write. If you leave it out, the key is printed.", valueName: "file"))
    var out: String?

    func run() async throws {
        let key = KeySecret()
        guard let out else { return Terminal.standardOutput.write(key.text) }
        try SecretFile(path: out).make(Array((key.text + "\n").utf8))
        Terminal.standardError.write("made `\(out)`")
    }
}
