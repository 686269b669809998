package import TenureCore

/// A policy file as the linter needs it, even if the file has mistakes: the parts that could be read, all mistakes, and
/// the position of each part.
package struct PolicyDraft: Sendable {
    /// The policy; nil if the file has mistakes.
    package let policy: Policy?
    /// The mistakes in the order of the text.
    package let mistakes: [PolicyFileMistake]

    /// The value of `app`; nil if the file isn't a mapping at all.
    package let app: Policy.App?
    /// One `Era` per entry under `eras`: a period in which the app was paid, or free. An entry with mistakes still has
    /// an `Era`, so the indexes match the file.
    package let eras: [Era]
    /// The value of `buildNumbers`; nil if it is missing or unreadable.
    package let buildNumbers: Policy.BuildNumbers?
    /// The releases of the app, from `releases` in the policy or from the CSV file that `releases` names.
    package let releases: [ListedRelease]
    /// One `Entitlement` per entry under `entitlements`, in the order of the file, even for an entry with mistakes.
    package let entitlements: [Entitlement]
    /// One `Acknowledgment` per entry under `acknowledge`, which accepts one finding of the linter. An entry with
    /// mistakes still has an `Acknowledgment`, so the indexes match the file.
    package let acknowledgments: [Acknowledgment]
    /// The whole document.
    private let root: Part
    /// The mistakes, and the paths of the parts that couldn't be read.
    private let reading: Reading
    /// The entries under `entitlements`, and their indexes, by name. A dictionary, because a policy may have thousands
    /// of entitlements.
    private let entitlementParts: [String: (part: Part, index: Int)]

    init(
        root: Part, reading: Reading, app: Policy.App? = nil, eras: [Era] = [],
        buildNumbers: Policy.BuildNumbers? = nil, releases: [ListedRelease] = [], entitlements: [Entitlement] = [],
        acknowledgments: [Acknowledgment] = [], policy: Policy? = nil
    ) {
        self.root = root
        self.reading = reading
        self.app = app
        self.eras = eras
        self.buildNumbers = buildNumbers
        self.releases = releases
        self.entitlements = entitlements
        self.acknowledgments = acknowledgments
        var parts: [String: (part: Part, index: Int)] = [:]
        for (index, entry) in (root.node["entitlements"]?.entries ?? []).enumerated() {
            parts[entry.key] = (Part(entry, under: ["entitlements"]), index)
        }
        entitlementParts = parts
        mistakes = reading.error(mainFile: root.position.file).mistakes
        self.policy = mistakes.isEmpty ? policy : nil
    }

    package var fileName: String { root.position.file }

    /// Returns the position of the value at a path. If the file has no such value, returns the position of the smallest
    /// value around it.
    package func position(of path: [PolicyMistake.Step]) -> SourcePosition {
        if path.count > 1, path[0] == "entitlements", case .key(let name) = path[1],
            let part = entitlementParts[name]?.part
        {
            return part.position(of: Array(path.dropFirst(2)))
        }
        return root.position(of: path)
    }

    /// Returns the entitlement with this name; nil if the file doesn't have it.
    package func entitlement(named name: String) -> Entitlement? {
        guard let index = entitlementParts[name]?.index, entitlements.indices.contains(index) else { return nil }
        return entitlements[index]
    }

    /// Whether something at, inside or around the path couldn't be read. If so, a missing value doesn't mean that the
    /// author left it out.
    package func isBroken(_ path: [PolicyMistake.Step]) -> Bool { reading.isBroken(path) }

    /// Returns the policy file as it would be after these edits. A release list in another file isn't read again.
    package func edited(by edits: [PolicyEdit]) -> PolicyDraft {
        var document = root.node
        var releases = releases
        for edit in edits {
            document = document.edited(at: edit.path[...], to: edit.value)
            if let list = edit.releases { releases = list }
        }
        return PolicyReader.draft(document, knownReleases: releases)
    }

    /// Whether the file has a value at the path.
    package func hasValue(at path: [PolicyMistake.Step]) -> Bool {
        var node: DocumentNode? = root.node
        for step in path {
            switch (step, node?.content) {
            case (.key(let key), _): node = node?[key]
            case (.index(let index), .sequence(let elements)?) where elements.indices.contains(index):
                node = elements[index]
            default: return false
            }
        }
        return node != nil
    }
}

/// A release of the app, and its position in the policy file or in the CSV file that lists it.
package struct ListedRelease: Sendable {
    package let release: Release
    package let position: SourcePosition
}
