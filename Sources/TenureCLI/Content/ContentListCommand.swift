import ArgumentParser
import TenureContent
import TenureContentPublishing
import TenureCore
import TenureJSON
import TenurePolicyFile

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
