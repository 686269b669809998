package import TenureCore

/// The contents of a policy file, for the linter: its readable parts, all mistakes, and the position of each part.
package struct PolicyDraft: Sendable {
    /// The policy; nil if there are mistakes.
    package let policy: Policy?
    /// The mistakes in the order of the text.
    package let mistakes: [PolicyFileMistake]

    package let app: Policy.App?
    /// One `Era` per entry under `eras`. An entry with mistakes still has an `Era`, so the indexes match the file.
    package let eras: [Era]
    package let buildNumbers: Policy.BuildNumbers?
    package let releases: [ListedRelease]
    package let entitlements: [Entitlement]
    /// One `Acknowledgment` per entry under `acknowledge`. An entry with mistakes still has an `Acknowledgment`, so the
    /// indexes match the file.
    package let acknowledgments: [Acknowledgment]
    private let root: Part
    private let reading: Reading
    /// The entries under `entitlements`, and their indexes, by name. A policy may have thousands.
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
        if case .mapping(let entries)? = root.node["entitlements"]?.content {
            for (index, entry) in entries.enumerated() {
                parts[entry.key] = (Part(entry, under: ["entitlements"]), index)
            }
        }
        entitlementParts = parts
        mistakes = reading.error(mainFile: root.position.file).mistakes
        self.policy = mistakes.isEmpty ? policy : nil
    }

    package var fileName: String { root.position.file }

    /// Returns the position of a part, or of the smallest part that contains it.
    package func position(of path: [PolicyMistake.Step]) -> SourcePosition {
        if path.count > 1, path[0] == "entitlements", case .key(let name) = path[1],
            let part = entitlementParts[name]?.part
        {
            return part.position(of: Array(path.dropFirst(2)))
        }
        return root.position(of: path)
    }

    /// Returns the entitlement with a name; nil if the file has none.
    package func entitlement(named name: String) -> Entitlement? {
        guard let index = entitlementParts[name]?.index, entitlements.indices.contains(index) else { return nil }
        return entitlements[index]
    }

    /// Whether something at, inside or around the path couldn't be read. If so, a missing value doesn't mean that the
    /// author left it out.
    package func isBroken(_ path: [PolicyMistake.Step]) -> Bool { reading.isBroken(path) }

    /// Applies edits, and reads the changed file. A release list in another file isn't read again.
    package func edited(by edits: [PolicyEdit]) -> PolicyDraft {
        var document = root.node
        var releases = releases
        for edit in edits {
            document = document.edited(at: edit.path[...], to: edit.value)
            if let list = edit.releases { releases = list }
        }
        return PolicyReader.draft(document, listing: releases)
    }

    /// Whether the file has a value at the path.
    package func hasValue(at path: [PolicyMistake.Step]) -> Bool {
        var node = root.node
        for step in path {
            switch (step, node.content) {
            case (.key(let key), .mapping):
                guard let next = node[key] else { return false }
                node = next
            case (.index(let index), .sequence(let elements)) where elements.indices.contains(index):
                node = elements[index]
            default: return false
            }
        }
        return true
    }
}

/// A release, and the position of its row in the file.
package struct ListedRelease: Sendable {
    package let release: Release
    package let position: SourcePosition
}
