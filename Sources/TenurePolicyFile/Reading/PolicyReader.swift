import TenureCore

/// Reads a policy from a parsed YAML or JSON document, and collects all mistakes in it.
struct PolicyReader {
    /// Collects the mistakes in the document.
    var reading: Reading
    /// The whole document.
    private let root: Part
    /// Returns the bytes of the policy's release list (a CSV file), by the path in the policy.
    private let releaseList: (String) throws -> [UInt8]
    /// The releases in that CSV file, if it was read before, so that it isn't read again; otherwise nil.
    private var knownReleases: [ListedRelease]?

    /// Returns the policy, or throws all mistakes.
    ///
    /// - Parameter mistakes: the mistakes that were found when the document was parsed, such as repeated keys.
    static func read(
        _ document: DocumentNode, mistakes: [PolicyFileMistake], releaseList: (String) throws -> [UInt8]
    ) throws(PolicyFileError) -> Policy {
        let draft = draft(document, mistakes: mistakes, releaseList: releaseList)
        guard let policy = draft.policy else { throw PolicyFileError(mistakes: draft.mistakes) }
        return policy
    }

    /// Returns the parts that could be read, with all mistakes.
    ///
    /// - Parameter knownReleases: for a document that was edited after it was read: the releases in its CSV file, which
    ///   isn't read again.
    static func draft(
        _ document: DocumentNode, mistakes: [PolicyFileMistake] = [], knownReleases: [ListedRelease]? = nil,
        releaseList: (String) throws -> [UInt8] = { _ throws in throw PolicyFile.NoReleaseList() }
    ) -> PolicyDraft {
        withoutActuallyEscaping(releaseList) { releaseList in
            var reader = PolicyReader(
                reading: Reading(mistakes: mistakes), root: Part(root: document), releaseList: releaseList,
                knownReleases: knownReleases)
            return reader.draft()
        }
    }

    /// Reads all parts, then checks whether they make sense together.
    private mutating func draft() -> PolicyDraft {
        guard let fields = Fields(root, .policy, &reading) else { return PolicyDraft(root: root, reading: reading) }
        let app = self.app(fields[.app])
        let eras = self.eras(fields[.eras])
        let buildNumbers = fields[.buildNumbers].flatMap { $0.word(&reading, of: Policy.BuildNumbers.self) }
        let releases = self.releases(fields[.releases])
        let entitlements = self.entitlements(fields[.entitlements])
        let inDoubt = fields[.inDoubt].flatMap { $0.word(&reading, of: Policy.InDoubt.self) }
        let whileUndetermined = fields[.whileUndetermined].flatMap { self.whileUndetermined($0) }
        let testEnvironments = fields[.testEnvironments].flatMap { $0.word(&reading, of: Policy.TestEnvironments.self) }
        let acknowledgments = self.acknowledgments(fields[.acknowledge])

        // If the name of an era couldn't be read, an honor may refer to that era. So don't report unknown eras: replace
        // their names by a known one.
        var checkedEntitlements = entitlements
        let names = Set(eras.map(\.name))
        let isEraUnknown = eras.indices.contains { reading.isBroken(["eras", .index($0), "name"]) }
        if isEraUnknown, let anyName = eras.first?.name {
            checkedEntitlements = entitlements.map {
                Entitlement(
                    name: $0.name, title: $0.title, products: $0.products,
                    honors: $0.honors?.map { names.contains($0.era) ? $0 : $0.replacingEra(with: anyName) },
                    trial: $0.trial)
            }
        }
        var policy: Policy?
        do throws(InvalidPolicy) {
            policy = try Policy(
                app: app, eras: eras, buildNumbers: buildNumbers, releases: releases.map(\.release),
                entitlements: checkedEntitlements, inDoubt: inDoubt ?? .favorCustomer,
                whileUndetermined: whileUndetermined ?? .allow(72 * 3600),
                testEnvironments: testEnvironments ?? .newCustomer, acknowledgments: acknowledgments)
        } catch {
            for mistake in error.mistakes where !isConsequence(mistake) {
                // If there are no eras, references to eras can't be checked.
                if eras.isEmpty, mistake.path.contains("honors") { continue }
                reading.report(mistake.message, at: position(of: mistake, in: releases), code: mistake.code)
            }
        }
        return PolicyDraft(
            root: root, reading: reading, app: app, eras: eras, buildNumbers: buildNumbers, releases: releases,
            entitlements: entitlements, acknowledgments: acknowledgments, policy: policy)
    }

    /// Returns the position of a mistake in the policy file or, for a listed release, in the CSV file.
    private func position(of mistake: PolicyMistake, in releases: [ListedRelease]) -> SourcePosition {
        if mistake.path.count == 2, mistake.path[0] == "releases", case .index(let index) = mistake.path[1],
            releases.indices.contains(index)
        {
            return releases[index].position
        }
        return root.position(of: mistake.path)
    }

    /// Whether the mistake is only a consequence of a part that couldn't be read. Such a mistake isn't reported,
    /// because the unreadable part already was.
    private func isConsequence(_ mistake: PolicyMistake) -> Bool {
        // A mistake about an honor is a consequence only if the honor's `era` couldn't be read. So an unknown era is
        // reported even if one of the honor's limits couldn't be read.
        let isHonor = mistake.path.count == 4 && mistake.path[2] == "honors"
        if reading.isBroken(isHonor ? mistake.path + ["era"] : mistake.path) { return true }
        // With a release list, `buildNumbers` may be left out. So if the list couldn't be read, a missing
        // `buildNumbers` isn't reported.
        return mistake.path == ["buildNumbers"] && reading.isBroken(["releases"])
    }

    /// Reads `app`. If the bundle ID can't be read, the result has the bundle ID `unknown`.
    private mutating func app(_ part: Part?) -> Policy.App {
        let fields = part.flatMap { Fields($0, .app, &reading) }
        let bundleID = fields?[.bundleID].flatMap { $0.name(&reading, example: "com.example.calculator") }
        let appleID = fields?[.appleID].flatMap { $0.integer(&reading, example: "appleID: 828838134", as: Int64.self) }
        // A missing bundle ID was already reported.
        return Policy.App(bundleID: bundleID ?? "unknown", appleID: appleID)
    }

    /// Reads `eras`. An entry with mistakes still gives an `Era`.
    private mutating func eras(_ part: Part?) -> [Era] {
        guard let elements = part?.elements(&reading, example: "eras: [{ name: paid, model: paid }]") else { return [] }
        return elements.enumerated().map { index, element in
            let fields = Fields(element, .era, &reading)
            let name = fields?[.name].flatMap { $0.name(&reading, example: "paid") }
            let model = fields?[.model].flatMap { $0.word(&reading, of: Era.Model.self) }
            // Create an era for each element, even with mistakes, so that the indexes are the same as in the file. An
            // unreadable name becomes a name that no valid file contains.
            return Era(
                name: name ?? "\u{0}\(index)", model: model ?? .paid,
                begins: fields?[.begins].map { self.beginnings($0) } ?? [:],
                changeover: fields?[.changeover].flatMap { self.changeover($0) })
        }
    }

    /// Reads `begins` of an era: the version or instant with which the era begins on each platform.
    private mutating func beginnings(_ part: Part) -> [Platform: Beginning] {
        let platforms = Platform.allCases.map(\.rawValue)
        // `Fields` uses these messages only for keys that aren't platforms of the App Store, such as `iPadOS`.
        var explained: [String: String] = [:]
        for entry in part.node.entries { explained[entry.key] = PlatformName.advice(for: entry.key) }
        guard let fields = Fields(part, keys: platforms, explained: explained, &reading) else { return [:] }
        if part.node.entries.isEmpty {
            reading.report(
                "`begins` has no platform; write one, such as `iOS: { build: \"120\", at: 2015-06-10T18:00:00Z }`",
                at: part.position, breaking: part.path)
        }
        return Platform.allCases.reduce(into: [:]) { result, platform in
            result[platform] = fields[platform.rawValue].flatMap { beginning($0, on: platform) }
        }
    }

    /// Reads how an era begins on a platform: `new`, or a version, an instant or both. The App Store reports marketing
    /// versions on macOS, and builds on other platforms. A number of the wrong kind is a mistake with its own
    /// explanation.
    private mutating func beginning(_ part: Part, on platform: Platform) -> Beginning? {
        let key = platform.versionKey
        let example =
            key == .bundleVersion
            ? "{ build: \"120\", at: 2015-06-10T18:00:00Z }" : "{ version: \"2.0\", at: 2015-06-12T18:00:00Z }"
        if let text = part.node.text {
            if text == Self.newPlatform { return .new }
            return part.refuse(
                &reading,
                "`\(text.shortened)` isn't a beginning; write `\(example)`, or `new` if the app came to this platform in this era"
            )
        }
        let other: VersionKey = key == .bundleVersion ? .shortVersionString : .bundleVersion
        let explanation =
            "on \(platform.rawValue) the App Store reports \(key.inApplesWords), never \(other.inApplesWords): "
            + "`\(other.rawValue)` would prove nothing; write `\(key.rawValue)`"
        let shape = key == .bundleVersion ? PolicyShape.buildBeginning : .versionBeginning
        let fields = Fields(
            part, keys: shape.keys.map(\.rawValue), explained: [other.rawValue: explanation],
            code: key == .bundleVersion ? "version-for-build" : "build-for-version", &reading)
        guard let fields else { return nil }
        return .at(
            version: fields[key.rawValue].flatMap { $0.version(&reading, key) },
            date: fields[.at].flatMap { $0.instant(&reading) })
    }

    // The words that a policy may have instead of a mapping: in `begins`, `whileUndetermined` and `changeover`.
    static let newPlatform = "new"
    static let denied = "deny"
    static let noChangeover = "none"

    /// Reads the changeover of an era: `none`, or a window around the era's beginning in which some storefronts or
    /// caches still had the old price or build.
    private mutating func changeover(_ part: Part) -> Changeover? {
        if let text = part.node.text {
            if text == Self.noChangeover { return .noWindow }
            return part.refuse(
                &reading,
                "`\(text.shortened)` is unknown here; write `{ from: -24h, until: +48h }` or `\(Self.noChangeover)`")
        }
        guard let fields = Fields(part, .changeover, &reading) else { return nil }
        let from = fields[.from].map { $0.duration(&reading, example: "-24h") }
        let until = fields[.until].map { $0.duration(&reading, example: "+48h") }
        if from == nil, until == nil, !reading.isBroken(part.path) {
            reading.report(
                "the changeover is empty; write `{ from: -24h, until: +48h }` or `\(Self.noChangeover)`",
                at: part.position, breaking: part.path)
        }
        // Use 0 for a missing or unreadable `from` or `until`.
        return .window(from: (from ?? 0) ?? 0, until: (until ?? 0) ?? 0)
    }

    /// Reads `releases`: a list of releases, or the path of a CSV file with this list.
    private mutating func releases(_ part: Part?) -> [ListedRelease] {
        guard let part else { return [] }
        if case .sequence = part.node.content {
            let elements = part.elements(&reading, example: "releases: []") ?? []
            return elements.compactMap { element in
                release(element).map { ListedRelease(release: $0, position: element.position) }
            }
        }
        guard let path = part.name(&reading, example: "releases: releases.csv") else { return [] }
        guard !path.isEmpty else {
            reading.report(
                "the path of the release list is empty; write it, such as `releases: releases.csv`, or leave out `releases`",
                at: part.position, breaking: part.path)
            return []
        }
        if let knownReleases { return knownReleases }
        do {
            return try ReleaseListFile.listed(try releaseList(path), named: path)
        } catch let error as PolicyFileError {
            reading.add(error.mistakes, breaking: part.path)
        } catch {
            reading.report(
                "the release list `\(path.shortened)` can't be read (\(error)); write its path relative to this file, or the releases themselves",
                at: part.position, breaking: part.path)
        }
        return []
    }

    /// Reads a release in the policy itself. If its platform or its date can't be read, reports a mistake and returns
    /// nil.
    private mutating func release(_ part: Part) -> Release? {
        guard let fields = Fields(part, .release, &reading) else { return nil }
        let platform = fields[.platform].flatMap { $0.platform(&reading) }
        let version = fields[.version].flatMap { $0.version(&reading, .shortVersionString) }
        let build = fields[.build].flatMap { $0.version(&reading, .bundleVersion) }
        let releasedAt = fields[.releasedAt].map { $0.moment(&reading) } ?? .undated
        let model = fields[.model].flatMap { $0.word(&reading, of: Era.Model.self) }
        guard let platform, let releasedAt else { return nil }
        let (key, path) = (platform.versionKey, part.path + [.key(platform.versionKey.rawValue)])
        if fields[key.rawValue] == nil, !reading.isBroken(path) {
            reading.report(ReleaseListFile.missing(key, on: platform), at: part.position, breaking: path)
        }
        return Release(platform: platform, version: version, build: build, releasedAt: releasedAt, model: model)
    }

    /// Reads `acknowledge`: the linter's findings that the developer accepts.
    private mutating func acknowledgments(_ part: Part?) -> [Acknowledgment] {
        let example = "acknowledge: [{ code: changeover-wide, at: eras/freemium/changeover, reason: … }]"
        return (part?.elements(&reading, example: example) ?? []).map { element in
            let fields = Fields(element, .acknowledgment, &reading)
            func text(_ key: PolicyKey, _ example: String) -> String? {
                fields?[key].flatMap { $0.name(&reading, example: example) }
            }
            // Create an acknowledgment for each element, even with mistakes, so that the indexes are the same as in the
            // file.
            return Acknowledgment(
                code: text(.code, "changeover-wide") ?? "\u{0}",
                at: text(.at, "eras/freemium/changeover") ?? "\u{0}\(element.position.line):\(element.position.column)",
                reason: text(.reason, "the price fell in each storefront on its own day") ?? "unknown")
        }
    }

    /// Reads `whileUndetermined`, which says how long the client's `allows` returns true while a decision is
    /// undetermined: never (`deny`), or for a duration.
    private mutating func whileUndetermined(_ part: Part) -> Policy.WhileUndetermined? {
        if let text = part.node.text {
            if text == Self.denied { return .deny }
            return part.refuse(
                &reading, "`\(text.shortened)` is unknown here; write `{ allow: 72h }` or `\(Self.denied)`")
        }
        guard let allow = Fields(part, .whileUndetermined, &reading)?[.allow],
            let seconds = allow.duration(&reading, example: "72h")
        else { return nil }
        guard seconds > 0 else {
            return allow.refuse(
                &reading,
                "`\(allow.node.text ?? "")` allows nothing; write a length such as `72h`, or `whileUndetermined: \(Self.denied)`"
            )
        }
        return .allow(seconds)
    }
}

extension VersionKey {
    /// What Apple calls this number, for messages.
    var inApplesWords: String {
        switch self {
        case .bundleVersion: "the build (CFBundleVersion)"
        case .shortVersionString: "the marketing version (CFBundleShortVersionString)"
        }
    }
}
