import ArgumentParser
import Crypto
import Foundation
import TenureAPI
import TenureContent
import TenureContentPublishing
import TenureCore
import TenureJSON
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
            // Newer apps use a version that was published before for a higher `minimumAppVersion`.
            for other in publication.catalog.catalog[pack.name]?.versions ?? [] {
                guard let minimum = other.minimumAppVersion,
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
    /// Reads a public key on the command line: the key itself as text, a file with this text, or the file of the private
    /// key. Throws if the text is neither a key nor a file with a key.
    fileprivate static func read(_ text: String) throws -> PinnedKey {
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

struct ContentListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show the packs of a published folder: versions, sizes and digests.",
        discussion: """
            With --key, the command also verifies the catalog's signature, as apps do.

            Exit codes: 0 shown, 2 the signature isn't made by the key, 1 a file can't be read, 64 wrong usage.

            Example:
              tenure content list published --key policy-key.pem
            """)

    @Argument(help: "The published folder.") var folder: String

    @Option(
        // URL-safe Base64 may begin with `-`.
        parsing: .unconditionalSingleValue,
        help: .value("key", "The key that must have signed the catalog: its file, or its public key. Repeatable."))
    var key: [String] = []

    @Flag(help: "Write JSON: `bundleID`, `counter`, `issuedAt`, `verified` and `packs`.")
    var json = false

    func run() async throws {
        guard let text = try ContentFolder(path: folder).catalogText() else {
            throw PublishingError.notPublished(folder: folder)
        }
        let keys = try key.map(PinnedKey.read)
        do throws(ContentError) {
            if !keys.isEmpty { _ = try SignedCatalog.verify(text, keys: keys, bundleID: nil) }
        } catch .wrongSignature {
            Terminal.standardError.write(
                "error: none of these keys signed `\(folder)/\(SignedCatalog.fileName)`; pass the key that signs its catalog with --key"
            )
            throw ExitCode.refused
        }
        let contents = try SignedCatalog.unverified(text)
        if json {
            terminal.write(json: Self.json(contents, isVerified: !keys.isEmpty))
        } else {
            Self.show(contents, isVerified: !keys.isEmpty)
        }
    }

    private static func show(_ contents: SignedCatalog, isVerified: Bool) {
        let signature = isVerified ? "signature verified" : "signature not checked; pass --key to check it"
        let (app, date) = (Terminal.escaped(contents.catalog.bundleID), contents.issuedAt.rfc3339)
        terminal.write("\(app), counter \(contents.counter), issued \(date), \(signature)")
        for pack in contents.catalog.packs {
            let unlock =
                switch pack.unlock {
                case .entitlement(let name): "entitlement \(name)"
                case .product(let id): "product \(id)"
                }
            let name = terminal.styled(pack.name, .bold)
            terminal.write("\(name): \(Terminal.escaped(unlock))\(pack.isPurgeable ? ", purgeable" : "")")
            for version in pack.versions {
                let apps = version.minimumAppVersion.map { "apps from \($0)" } ?? "all apps"
                terminal.write("  \(apps): \(byteCount(version.installedSize))")
                terminal.write("    manifest \(version.manifest)  \(byteCount(Int64(version.manifestSize)))")
                terminal.write("    archive  \(version.archive)  \(byteCount(version.archiveSize))")
            }
        }
    }

    private static func json(_ contents: SignedCatalog, isVerified: Bool) -> [UInt8] {
        JSONWriter.object { json in
            json.field("bundleID", contents.catalog.bundleID)
            json.field("counter", contents.counter)
            json.field("issuedAt", contents.issuedAt)
            json.field("verified", isVerified)
            json.objects("packs", contents.catalog.packs) { json, pack in
                json.field("name", pack.name)
                pack.unlock.write(to: &json)
                json.field("purgeable", pack.isPurgeable)
                json.objects("versions", pack.versions) { json, version in
                    json.field("minimumAppVersion", orNull: version.minimumAppVersion?.description)
                    json.field("manifest", version.manifest.description)
                    json.field("manifestSize", version.manifestSize)
                    json.field("archive", version.archive.description)
                    json.field("archiveSize", version.archiveSize)
                    json.field("installedSize", version.installedSize)
                }
            }
        }
    }
}
