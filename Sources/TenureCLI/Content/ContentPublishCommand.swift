import ArgumentParser
import Foundation
import TenureContent
import TenureContentPublishing
import TenurePolicyFile

struct ContentPublishCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish",
        abstract: "Write asset packs and a signed catalog to a folder that any server can hand out.",
        discussion: """
            Each version of a pack becomes an archive (ustar, uncompressed) and a manifest, both named by their SHA-256. \
            Files that are there already stay as they are. The catalog is signed like a signed policy, and is replaced \
            last: until then, apps see the catalog before. Versions for other values of `minimumAppVersion` stay in the \
            catalog; packs that left \(Self.file) leave it.

            Apps take a catalog only if its counter is higher than that of the one before. Without --counter it is the \
            time in seconds since 1970.

            Exit codes: 0 published, 2 mistakes in the file or in the packs, 1 error, 64 wrong usage.

            Example:
              tenure policy key policy-key.pem
              tenure content publish content.yaml --policy policy.yaml --key policy-key.pem --to published
            """
    )

    private static let file = "content.yaml"

    @OptionGroup var content: ContentFileOptions

    @Option(help: ArgumentHelp("The private key, from `tenure policy key`.", valueName: "file"))
    var key: String

    @Option(help: ArgumentHelp("The published folder; it is made if it is missing.", valueName: "folder"))
    var to: String

    @Option(help: "A whole number that is higher than that of every catalog before.")
    var counter: Int64?

    @Option(
        help: ArgumentHelp(
            "Another key that may have signed the catalog in the folder, while you change keys: its file, or its public half. Repeatable.",
            valueName: "key"))
    var previousKey: [PublicKeyArgument] = []

    @Flag(help: "Start over, whatever catalog is in the folder: its other versions leave the catalog.")
    var replace = false

    func validate() throws {
        guard counter.map({ (1...SignedPolicy.largestCounter).contains($0) }) ?? true else {
            throw ValidationError("a counter is a whole number between 1 and \(SignedPolicy.largestCounter)")
        }
    }

    func run() async throws {
        try await reportingErrors {
            let signingKey = try PolicySigningKey.read(key, makingIfMissing: false)
            let publisher = ContentPublisher(
                folder: to, key: signingKey, previousKeys: try previousKey.map { try $0.key() })
            let content = try content.readOrRefuse()
            if let pack = content.packs.first(where: { $0.files.encloses(key) }) {
                throw CommandError(
                    "the key `\(key)` is inside of the pack `\(pack.name)`, and would be published; move it elsewhere")
            }
            let progress = Progress("bytes")
            let total = content.packs.reduce(0) { $0 + $1.files.size }
            var done: Int64 = 0
            defer { progress.end() }
            let publication = try publisher.publish(
                bundleID: content.bundleID, packs: content.packs, counter: counter, replacing: replace
            ) { count in
                done += Int64(count)
                progress.show(min(done, total), of: total)
            }
            progress.end()
            show(publication)
        }
    }

    private func show(_ publication: ContentPublisher.Publication) {
        let terminal = Terminal.standardOutput
        for pack in publication.packs {
            let size = ByteCount(pack.manifest.installedSize)
            terminal.write(
                "\(pack.name): \(counted(pack.manifest.files.count, "file")), \(size), \(pack.isNew ? "new" : "unchanged")"
            )
            for other in publication.catalog.catalog[pack.name]?.versions ?? [] {
                guard let minimum = other.minimumAppVersion,
                    pack.version.minimumAppVersion.map({ $0 < minimum }) ?? true
                else { continue }
                terminal.write(
                    "  apps from \(minimum) keep the version published for them; replace it with `minimumAppVersion: \"\(minimum)\"`"
                )
            }
        }
        for name in publication.droppedPacks { terminal.write("\(name): left the catalog") }
        terminal.write("published `\(to)` with the counter \(publication.catalog.counter)")
    }
}
