import ArgumentParser
import Foundation
import TenureAPI
import TenureContent
import TenureContentPublishing
import TenureCore
import TenureJSON

struct ContentListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Show the packs of a published folder: versions, sizes and digests.",
        discussion: """
            With --key it also verifies the catalog's signature, as apps do.

            Exit codes: 0 shown, 2 the signature isn't made by the key, 1 unreadable, 64 wrong usage.

            Example:
              tenure content list published --key policy-key.pem
            """
    )

    @Argument(help: "The published folder.")
    var folder: String

    @Option(
        // Base64 for URLs may begin with `-`.
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "The key that must have signed the catalog: its file, or its public half. Repeatable.", valueName: "key"))
    var key: [PublicKeyArgument] = []

    @Flag(help: "Write JSON: `bundleID`, `counter`, `issuedAt`, `verified` and `packs`.")
    var json = false

    func run() async throws {
        try await reportingErrors {
            guard let text = try ContentFolder(path: folder).catalogText() else {
                throw PublishingError.notPublished(folder: folder)
            }
            let keys = try key.map { try $0.key() }
            do throws(ContentError) {
                if !keys.isEmpty { _ = try SignedCatalog.verify(text, keys: keys, bundleID: nil) }
            } catch .wrongSignature {
                Terminal.standardError.write("error: the key didn't sign `\(folder)/\(SignedCatalog.fileName)`")
                throw ExitCode.refused
            }
            let contents = try UnverifiedCatalog(text)
            if json {
                Terminal.standardOutput.write(json: Self.json(contents, isVerified: !keys.isEmpty))
            } else {
                Self.show(contents, isVerified: !keys.isEmpty)
            }
        }
    }

    private static func show(_ contents: UnverifiedCatalog, isVerified: Bool) {
        let terminal = Terminal.standardOutput
        let signature = isVerified ? "signature verified" : "signature not checked; pass --key to check it"
        terminal.write(
            "\(Terminal.clean(contents.catalog.bundleID)), counter \(contents.counter), issued \(contents.issuedAt.rfc3339), \(signature)"
        )
        for pack in contents.catalog.packs {
            let unlock =
                switch pack.unlock {
                case .entitlement(let name): "entitlement \(name)"
                case .product(let id): "product \(id)"
                }
            terminal.write(
                "\(terminal.styled(pack.name, .bold)): \(Terminal.clean(unlock))\(pack.isPurgeable ? ", purgeable" : "")"
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

    private static func json(_ contents: UnverifiedCatalog, isVerified: Bool) -> [UInt8] {
        var writer = JSONWriter()
        func field(_ name: String, _ text: String, _ json: inout JSONWriter) {
            json.key(name)
            json.value(text)
        }
        func field(_ name: String, _ number: some BinaryInteger, _ json: inout JSONWriter) {
            json.key(name)
            json.value(number)
        }
        writer.object { json in
            field("bundleID", contents.catalog.bundleID, &json)
            field("counter", contents.counter, &json)
            json.key("issuedAt")
            json.value(contents.issuedAt)
            json.key("verified")
            json.value(isVerified)
            json.key("packs")
            json.array(contents.catalog.packs) { json, pack in
                json.object { json in
                    field("name", pack.name, &json)
                    switch pack.unlock {
                    case .entitlement(let name): field("entitlement", name, &json)
                    case .product(let id): field("product", id, &json)
                    }
                    json.key("purgeable")
                    json.value(pack.isPurgeable)
                    json.key("versions")
                    json.array(pack.versions) { json, version in
                        json.object { json in
                            json.key("minimumAppVersion")
                            if let minimum = version.minimumAppVersion {
                                json.value(minimum.description)
                            } else {
                                json.null()
                            }
                            field("manifest", version.manifest.description, &json)
                            field("manifestSize", version.manifestSize, &json)
                            field("archive", version.archive.description, &json)
                            field("archiveSize", version.archiveSize, &json)
                            field("installedSize", version.installedSize, &json)
                        }
                    }
                }
            }
        }
        return writer.bytes
    }
}
