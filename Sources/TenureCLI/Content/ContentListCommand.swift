import ArgumentParser
import Foundation
import TenureAPI
import TenureContent
import TenureContentPublishing
import TenureCore
import TenureJSON

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
    var key: [PublicKeyArgument] = []

    @Flag(help: "Write JSON: `bundleID`, `counter`, `issuedAt`, `verified` and `packs`.")
    var json = false

    func run() async throws {
        guard let text = try ContentFolder(path: folder).catalogText() else {
            throw PublishingError.notPublished(folder: folder)
        }
        let keys = try key.map { try $0.key() }
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
            Terminal.standardOutput.write(json: Self.json(contents, isVerified: !keys.isEmpty))
        } else {
            Self.show(contents, isVerified: !keys.isEmpty)
        }
    }

    private static func show(_ contents: SignedCatalog, isVerified: Bool) {
        let terminal = Terminal.standardOutput
        let signature = isVerified ? "signature verified" : "signature not checked; pass --key to check it"
        terminal.write(
            "\(Terminal.escaped(contents.catalog.bundleID)), counter \(contents.counter), issued \(contents.issuedAt.rfc3339), \(signature)"
        )
        for pack in contents.catalog.packs {
            let unlock =
                switch pack.unlock {
                case .entitlement(let name): "entitlement \(name)"
                case .product(let id): "product \(id)"
                }
            terminal.write(
                "\(terminal.styled(pack.name, .bold)): \(Terminal.escaped(unlock))\(pack.isPurgeable ? ", purgeable" : "")"
            )
            for version in pack.versions {
                terminal.write(
                    "  \(version.minimumAppVersion.map { "apps from \($0)" } ?? "all apps"): \(ByteCount(version.installedSize))"
                )
                terminal.write("    manifest \(version.manifest)  \(ByteCount(Int64(version.manifestSize)))")
                terminal.write("    archive  \(version.archive)  \(ByteCount(version.archiveSize))")
            }
        }
    }

    private static func json(_ contents: SignedCatalog, isVerified: Bool) -> [UInt8] {
        JSONWriter.object { json in
            json.field("bundleID", contents.catalog.bundleID)
            json.field("counter", contents.counter)
            json.field("issuedAt", contents.issuedAt)
            json.field("verified", isVerified)
            json.field("packs", contents.catalog.packs) { json, pack in
                json.object { json in
                    json.field("name", pack.name)
                    pack.unlock.write(to: &json)
                    json.field("purgeable", pack.isPurgeable)
                    json.field("versions", pack.versions) { json, version in
                        json.object { json in
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
    }
}
