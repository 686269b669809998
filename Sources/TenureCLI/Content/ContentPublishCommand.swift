import ArgumentParser
import Crypto
import Foundation
import TenureContent
import TenureContentPublishing
import TenurePolicyFile

struct ContentPublishCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish",
        abstract: "Write asset packs and a signed catalog to a folder that any web server can serve.",
        discussion: """
            Each version of a pack becomes an archive (ustar, uncompressed) and a manifest, both named by their SHA-256. \
            Existing files stay as they are. The catalog is signed like a policy and replaced last: until then, apps \
            use the earlier catalog. Versions for other values of `minimumAppVersion` stay in the catalog. Packs that \
            are no longer in the file are removed from the catalog.

            Apps accept a catalog only if its counter is higher than that of the previous one. Without --counter, the \
            counter is the time in seconds since 1970.

            Exit codes: 0 published, 2 mistakes in the file or in the packs, 1 error, 64 wrong usage.

            Example:
              tenure policy signing-key policy-key.pem
              tenure content publish content.yaml --policy policy.yaml \\
                  --key policy-key.pem --to published
            """)

    @OptionGroup var content: ContentFileOptions

    @Option(help: .value("file", "The private key that signs the catalog, from `tenure policy signing-key`."))
    var key: String

    @Option(help: .value("folder", "The published folder. Created if it doesn't exist."))
    var to: String

    @Option(help: "A whole number, higher than that of every earlier catalog. Default: the time in seconds since 1970.")
    var counter: Int64?

    @Option(
        // URL-safe Base64 may begin with `-`.
        parsing: .unconditionalSingleValue,
        help: .value(
            "key",
            "While you change keys: another key that may have signed the existing catalog, as its file or public key. Repeatable."
        ))
    var previousKey: [String] = []

    @Flag(
        help:
            "Replace the existing catalog without verifying it. All its versions are removed, including those for other values of `minimumAppVersion`."
    )
    var replace = false

    func validate() throws { try checkCounter(counter) }

    func run() async throws {
        let signingKey = try policySigningKey(at: key)
        let publisher = ContentPublisher(folder: to, key: signingKey, previousKeys: try previousKey.map(PinnedKey.read))
        let content = try content.readOrRefuse()
        if let pack = content.packs.first(where: { $0.files.encloses(key) }) {
            throw CommandError(
                "the key `\(key)` is inside the pack `\(pack.name)`, and would be published; move it elsewhere")
        }
        let publication = try content.showingProgress { progress in
            try publisher.publish(
                bundleID: content.bundleID, packs: content.packs, counter: counter, replacing: replace,
                progress: progress)
        }
        show(publication)
    }

    private func show(_ publication: ContentPublisher.Publication) {
        for pack in publication.packs {
            let files = counted(pack.manifest.files.count, "file")
            let size = byteCount(pack.manifest.installedSize)
            terminal.write("\(pack.name): \(files), \(size), \(pack.isNew ? "new" : "unchanged")")
            // The catalog keeps the versions with a higher `minimumAppVersion`. Newer apps use those, not the version
            // that was just published.
            for version in publication.catalog.catalog[pack.name]?.versions ?? [] {
                guard let minimum = version.minimumAppVersion,
                    pack.version.minimumAppVersion.map({ $0 < minimum }) ?? true
                else { continue }
                terminal.write(
                    "  apps from \(minimum) on keep the version published for them; to replace it, write `minimumAppVersion: \"\(minimum)\"`"
                )
            }
        }
        for name in publication.droppedPacks { terminal.write("\(name): removed from the catalog") }
        terminal.write("published `\(to)` with the counter \(publication.catalog.counter)")
    }
}

extension PinnedKey {
    /// Reads a public key on the command line: the key itself as text, a file with this text, or the file of the
    /// private key. Throws if the text is neither a key nor a file with a key.
    static func read(_ text: String) throws -> PinnedKey {
        if let key = PinnedKey(text) { return key }
        guard FileManager.default.fileExists(atPath: text) else {
            throw CommandError(
                "`\(text)` is neither a file nor a public key; pass the 86 characters that `tenure policy signing-key` prints"
            )
        }
        let contents = try InputFile(path: text).bytes(limit: 64 << 10, acceptsPipe: false)
        if let key = PinnedKey(String(decoding: contents, as: UTF8.self)) { return key }
        return PinnedKey(try policySigningKey(at: text).publicKey)
    }
}
