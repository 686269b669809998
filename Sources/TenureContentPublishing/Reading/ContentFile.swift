import TenureContent
package import TenureCore
import TenureFileAttributes
package import TenurePolicyFile

/// The contents of `content.yaml`, which lists the asset packs to publish: what unlocks each pack, and the folder with
/// its files.
///
/// ```yaml
/// app: com.example.calculator
/// packs:
///   grand-piano: { entitlement: piano, files: piano/, minimumAppVersion: "3.2" }
///   loops: { product: com.example.loops, files: loops/, storage: purgeable }
/// ```
package struct ContentFile: Sendable {
    /// The bundle ID of the app: the value of `app` or, without `app`, the policy's bundle ID.
    package let bundleID: String
    /// The packs, in the order of the file.
    package let packs: [PackSource]

    /// Reads a file, and scans the folders that it names.
    ///
    /// - Parameters:
    ///   - fileName: the path of the file, for mistakes. The paths in the file are relative to its folder.
    ///   - policy: the app's policy, against which the bundle ID, the entitlements and the products are checked. Nil to
    ///     accept any.
    /// - Throws: all mistakes in the file and in the packs' files, in the order of the file.
    package static func read(
        _ bytes: some Collection<UInt8>, named fileName: String, policy: Policy?
    ) throws(PolicyFileError) -> ContentFile {
        let (root, mistakes) = try PolicyFile.document(
            bytes, named: fileName, as: DocumentKind("asset packs", beginning: "`packs:`", keys: ["app", "packs"]))
        var reader = ContentFileReader(fileName: fileName, policy: policy, reading: Reading(mistakes: mistakes))
        return try reader.read(Part(root: root))
    }
}

/// The values of the field `storage`.
private enum Storage: String, CaseIterable {
    case purgeable
}

/// Reads `content.yaml`, and collects all mistakes in it.
private struct ContentFileReader {
    let fileName: String
    let policy: Policy?
    /// Collects the mistakes.
    var reading: Reading

    /// Reads the whole file. Throws if it has mistakes.
    mutating func read(_ root: Part) throws(PolicyFileError) -> ContentFile {
        let fields = Fields(root, keys: ["app", "packs"], required: [("packs", "packs: { levels: { … } }")], &reading)
        let bundleID = fields.flatMap { self.bundleID($0) }
        let packs = fields?["packs"].map { self.packs($0) } ?? []
        guard reading.mistakes.isEmpty, let bundleID else { throw reading.error(mainFile: fileName) }
        return ContentFile(bundleID: bundleID, packs: packs)
    }

    /// Reads `app`, which may be missing if there is a policy.
    private mutating func bundleID(_ fields: Fields) -> String? {
        guard let part = fields["app"] else {
            if policy == nil, !isBroken("app", in: fields) {
                reading.report(
                    "`app` is missing; write `app: com.example.calculator`, or name the policy with `--policy`",
                    at: fields.whole.position)
            }
            return policy?.app.bundleID
        }
        guard let bundleID = part.name(&reading, example: "com.example.calculator") else { return nil }
        if bundleID.isEmpty {
            reading.report("`app` is empty; write the app's bundle ID", at: part.position)
        } else if let policy, policy.app.bundleID != bundleID {
            reading.report(
                "`\(bundleID.shortened)` isn't the policy's app; write `\(policy.app.bundleID)`, or remove `app`",
                at: part.position)
        }
        return bundleID
    }

    /// Whether a mistake in the key's value was already reported, so that a missing value needn't be reported too.
    private func isBroken(_ key: String, in fields: Fields) -> Bool {
        reading.isOmitted(fields.whole.path + [.key(key)])
    }

    /// Reads `packs`.
    private mutating func packs(_ part: Part) -> [PackSource] {
        guard case .mapping(let entries) = part.node.content else {
            reading.report(
                "`packs` can't be \(part.node.kindInWords); write each pack under its name, such as `levels: { entitlement: pro, files: levels/ }`",
                at: part.position)
            return []
        }
        var packs: [PackSource] = []
        for (index, entry) in entries.enumerated() {
            if index == ContentCatalog.maximumPacks {
                let limit = ContentCatalog.maximumPacks
                reading.report("there are \(entries.count) packs; an app has at most \(limit)", at: entry.keyPosition)
            }
            if !ContentCatalog.isName(entry.key) {
                reading.report(
                    "`\(entry.key.shortened)` isn't a valid name of a pack; write 1 to 64 of the characters a–z, 0–9 and `-`",
                    at: entry.keyPosition)
            }
            if let pack = pack(Part(entry, under: part.path), named: entry.key) { packs.append(pack) }
        }
        return packs
    }

    /// Reads one pack, and adds its mistakes to `reading`. Returns nil if a required field is missing or invalid.
    private mutating func pack(_ part: Part, named name: String) -> PackSource? {
        guard
            let fields = Fields(
                part, keys: ["entitlement", "product", "files", "storage", "minimumAppVersion"],
                required: [("files", "files: \(name.shortened)/")], &reading)
        else { return nil }
        let unlock = unlock(fields)
        let storage = fields["storage"].flatMap { $0.word(&reading, of: Storage.self) }
        let minimum = fields["minimumAppVersion"].flatMap { minimumAppVersion($0) }
        guard let files = fields["files"].flatMap({ self.files($0) }), let unlock else { return nil }
        return PackSource(
            name: name, unlock: unlock, isPurgeable: storage == .purgeable, minimumAppVersion: minimum, files: files)
    }

    /// Reads what unlocks the pack: either the field `entitlement` or the field `product`. Unless exactly one of them
    /// has a valid value, reports a mistake and returns nil.
    private mutating func unlock(_ fields: Fields) -> ContentCatalog.Unlock? {
        let entitlements = policy?.entitlements
        switch (fields["entitlement"], fields["product"]) {
        case (let part?, nil):
            return known(part, "entitlement", example: "piano", among: entitlements?.map(\.name))
                .map { .entitlement($0) }
        case (nil, let part?):
            return known(
                part, "product", example: "com.example.loops", among: entitlements?.flatMap { $0.products.map(\.id) }
            ).map { .product($0) }
        case (.some, let second?):
            reading.report("a pack has `entitlement` or `product`, not both; remove one", at: second.position)
        case (nil, nil) where isBroken("entitlement", in: fields) || isBroken("product", in: fields): break
        case (nil, nil):
            reading.report(
                "`entitlement` or `product` is missing; write what unlocks the pack, such as `entitlement: piano`",
                at: fields.whole.position)
        }
        return nil
    }

    /// Reads the name of an entitlement or the ID of a product. Reports a mistake if it isn't in `known`, the policy's
    /// entitlements or products. If `known` is nil, there is no policy, and any name is valid.
    private mutating func known(_ part: Part, _ kind: String, example: String, among known: [String]?) -> String? {
        guard let name = part.name(&reading, example: example) else { return nil }
        guard !name.isEmpty else {
            reading.report("`\(kind)` is empty; write its name, such as `\(example)`", at: part.position)
            return nil
        }
        guard let known, !known.contains(name) else { return name }
        let advice = known.isEmpty ? "add it to the policy" : Spelling.advice(for: name, among: Set(known).sorted())
        reading.report("the policy has no \(kind) `\(name.shortened)`; \(advice)", at: part.position)
        return nil
    }

    /// Reads `minimumAppVersion`. If it isn't a version, reports a mistake and returns nil.
    private mutating func minimumAppVersion(_ part: Part) -> AppVersion? {
        if let version = part.node.text.flatMap({ AppVersion($0) }) { return version }
        reading.report(
            "\(part.node.kindInWords) isn't a version; write the app's `CFBundleShortVersionString`, such as `\"3.2\"`",
            at: part.position)
        return nil
    }

    /// Reads `files`, and scans the folder that it names.
    private mutating func files(_ part: Part) -> PackFiles? {
        guard let text = part.name(&reading, example: "piano/") else { return nil }
        let parts = text.split(separator: "/").filter { $0 != "." }
        let mistake: String? =
            if text.hasPrefix("/") {
                "is an absolute path; write a path relative to this file"
            } else if parts.contains("..") {
                "has `..`; put the files of packs into subfolders of this file's folder"
            } else if parts.isEmpty {
                "is the folder of this file; put the files of each pack into a separate folder"
            } else {
                nil
            }
        if let mistake {
            reading.report("`\(text.shortened)` \(mistake)", at: part.position)
            return nil
        }
        var folder = ""
        for name in parts {
            folder += (folder.isEmpty ? "" : "/") + name
            let location = PolicyFile.path(of: folder, beside: fileName)
            if FileState(path: location)?.kind == .link {
                reading.report("`\(folder.shortened)` is a link; name the folder itself", at: part.position)
                return nil
            }
        }
        let (files, mistakes) = PackFiles.scan(PolicyFile.path(of: folder, beside: fileName))
        for mistake in mistakes { reading.report("`\(text.shortened)`: \(mistake)", at: part.position) }
        return mistakes.isEmpty ? files : nil
    }
}
