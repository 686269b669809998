package import TenureCore
package import TenureJSON

/// The part of `PolicyFile` that writes policies.
extension PolicyFile {
    /// Returns the policy as compact JSON, with all releases of its release list. Apps have policies in this form in
    /// their bundles. Reading the JSON gives an equal policy.
    ///
    /// Keys and platforms have a fixed order, and every setting is written, so equal policies have equal bytes.
    /// Instants are written with milliseconds, and durations in whole seconds.
    package static func compile(_ policy: Policy) -> [UInt8] { json(policy).bytes }

    /// Compiles a policy, and checks the result by reading it. Throws if the result is too large, for example because
    /// of a long release list.
    ///
    /// - Parameter fileName: the name of the policy file, for mistakes.
    package static func compileChecked(_ policy: Policy, named fileName: String) throws(PolicyFileError) -> [UInt8] {
        let compiled = compile(policy)
        // Compare the bytes instead of the policies, because fractions of a millisecond aren't written.
        guard compile(try read(compiled, named: "\(fileName), compiled")) == compiled else {
            throw PolicyFileError(
                "the compiled policy differs from this one, which is a bug in Tenure; please report it",
                at: SourcePosition(file: fileName))
        }
        return compiled
    }

    /// Returns the policy as a JSON value. The other functions named `json` do the same for parts of a policy.
    ///
    /// `key => value` makes a member of an object, which is left out if the value is nil. The operator, and `Entry` for
    /// a member, are declared at the end of this file.
    static func json(_ policy: Policy) -> JSONValue {
        .object([
            .app
                => .object([
                    .bundleID => .string(policy.app.bundleID), .appleID => policy.app.appleID.map { .integer($0) },
                ]),
            .eras => .array(policy.eras.map(json)),
            .buildNumbers => policy.buildNumbers.map { .string($0.rawValue) },
            .releases => policy.releases.isEmpty ? nil : .array(policy.releases.map(json)),
            .entitlements => .object(policy.entitlements.map { Entry(name: $0.name, value: json($0)) }),
            .inDoubt => .string(policy.inDoubt.rawValue),
            .whileUndetermined => json(policy.whileUndetermined),
            .testEnvironments => .string(policy.testEnvironments.rawValue),
            .acknowledge => policy.acknowledgments.isEmpty ? nil : .array(policy.acknowledgments.map(json)),
        ])
    }

    private static func json(_ era: Era) -> JSONValue {
        let beginnings = Platform.allCases.compactMap { platform in
            era.begins[platform].map { Entry(name: platform.rawValue, value: json($0, on: platform)) }
        }
        return .object([
            .name => .string(era.name),
            .model => .string(era.model.rawValue),
            .begins => beginnings.isEmpty ? nil : .object(beginnings),
            .changeover => era.changeover.map(json),
        ])
    }

    private static func json(_ changeover: Changeover) -> JSONValue {
        switch changeover {
        case .noWindow: .string(PolicyReader.noChangeover)
        case .window(let from, let until):
            .object([.from => .string(Duration.text(from)), .until => .string(Duration.text(until))])
        }
    }

    private static func json(_ beginning: Beginning, on platform: Platform) -> JSONValue {
        switch beginning {
        case .new: .string(PolicyReader.newPlatform)
        case .at(let version, let date):
            .object([
                (platform.versionKey == .bundleVersion ? PolicyKey.build : .version)
                    => version.map { .string($0.description) },
                .at => date.map { .string($0.rfc3339) },
            ])
        }
    }

    private static func json(_ release: Release) -> JSONValue {
        .object([
            .platform => .string(release.platform.rawValue),
            .version => release.version.map { .string($0.description) },
            .build => release.build.map { .string($0.description) },
            .releasedAt => release.releasedAt == .undated ? nil : .string(release.releasedAt.text),
            .model => release.model.map { .string($0.rawValue) },
        ])
    }

    package static func json(_ entitlement: Entitlement) -> JSONValue {
        .object([
            .title => entitlement.title.map(json),
            .products => entitlement.products.isEmpty ? nil : .array(entitlement.products.map(json)),
            .honors => entitlement.honors.map { .array($0.map(json)) },
            .trial => entitlement.trial.map { .object([$0.key => .integer(Int64($0.count))]) },
        ])
    }

    package static func json(_ product: Entitlement.Product) -> JSONValue {
        if product.title == nil, product.length == nil { return .string(product.id) }
        return .object([
            .id => .string(product.id),
            .title => product.title.map(json),
            .for => product.length.map { .string($0.iso8601) },
        ])
    }

    private static func json(_ title: Title) -> JSONValue {
        .object(title.translations.map { Entry(name: $0.language, value: .string($0.text)) })
    }

    package static func json(_ honor: Honor) -> JSONValue {
        guard !honor.isUnlimited else { return .string(honor.era) }
        return .object([
            .era => .string(honor.era),
            .boughtSince => honor.boughtSince.map { .string($0.rfc3339) },
            .boughtBefore => honor.boughtBefore.map { .string($0.rfc3339) },
            .for => honor.length.map { .string($0.iso8601) },
            .until => honor.until.map { .string($0.rfc3339) },
        ])
    }

    private static func json(_ acknowledgment: Acknowledgment) -> JSONValue {
        .object([
            .code => .string(acknowledgment.code), .at => .string(acknowledgment.at),
            .reason => .string(acknowledgment.reason),
        ])
    }

    package static func json(_ whileUndetermined: Policy.WhileUndetermined) -> JSONValue {
        switch whileUndetermined {
        case .deny: .string(PolicyReader.denied)
        case .allow(let seconds): .object([.allow => .string(Duration.text(seconds))])
        }
    }
}

extension Trial {
    /// The number of sessions or days.
    package var count: Int {
        switch self {
        case .sessions(let count), .days(let count): count
        }
    }

    /// The key of the number in a policy file.
    var key: PolicyKey {
        switch self {
        case .sessions: .sessions
        case .days: .days
        }
    }

    /// What the number counts: `sessions` or `days`.
    package var unit: String { key.rawValue }
}

/// Joins a key and its value, so that an object reads like a table.
infix operator => : AssignmentPrecedence

private typealias Entry = JSONObject.Member

/// Returns a member of a JSON object; nil if there is no value.
private func => (key: PolicyKey, value: JSONValue?) -> Entry? { value.map { Entry(name: key.rawValue, value: $0) } }

extension JSONValue {
    /// Returns an object with the members that aren't nil.
    fileprivate static func object(_ members: [Entry?]) -> JSONValue {
        .object(JSONObject(members: members.compactMap { $0 }))
    }
}
