import Foundation

extension Policy {
    /// Everything that makes no sense in the policy, such as two eras with one name. `Policy.init` throws these
    /// mistakes.
    ///
    /// `PolicyReader` reports mistakes of the file's format, such as a number instead of a date.
    var mistakes: [PolicyMistake] {
        var mistakes: [PolicyMistake] = []
        mistakes.add(
            ["app", "bundleID"], if: app.bundleID.isEmpty,
            "the bundle ID is empty; write the app's, such as `com.example.calculator`")
        if let appleID = app.appleID, appleID <= 0 {
            mistakes.add(
                ["app", "appleID"],
                "`\(appleID)` isn't an Apple ID; write the number from the app's page in App Store Connect")
        }
        addEraMistakes(to: &mistakes)
        addOrderMistakes(to: &mistakes)
        addChangeoverMistakes(to: &mistakes)
        addBuildNumberMistake(to: &mistakes)
        addReleaseMistakes(to: &mistakes)
        addEntitlementMistakes(to: &mistakes)
        addAcknowledgmentMistakes(to: &mistakes)
        return mistakes
    }

    /// Adds mistakes in the eras' number, names, beginnings and changeover windows.
    private func addEraMistakes(to mistakes: inout [PolicyMistake]) {
        mistakes.add(
            ["eras"], if: eras.isEmpty, "there is no era; write at least one, such as `- { name: paid, model: paid }`")
        mistakes.add(
            ["eras"], if: eras.count > EraSet.capacity,
            "a policy has at most \(EraSet.capacity) eras, but this one has \(eras.count); join eras that entitlements treat alike"
        )
        for (index, era) in eras.enumerated() {
            let path: [PolicyMistake.Step] = ["eras", .index(index)]
            if era.name.isEmpty {
                mistakes.add(path + ["name"], "the name is empty; give the era one, such as `paid`")
            } else if eras[..<index].contains(where: { $0.name == era.name }) {
                mistakes.add(
                    path + ["name"], "`\(era.name)` names two eras; give each its own name, such as `\(era.name)Again`")
            }
            mistakes.add(
                path + ["begins"], if: index == 0 && !era.begins.isEmpty,
                "the first era can't have `begins`; remove it, or add the era that came before to the top of `eras`")
            mistakes.add(
                path, if: index > 0 && era.begins.isEmpty,
                "`\(era.name)` has no beginning; add `begins` with `build` (on macOS `version`), `at`, or both for each platform"
            )
            for (platform, beginning) in era.begins.sorted(by: { $0.key.rawValue < $1.key.rawValue })
            where beginning == .at(version: nil, date: nil) {
                mistakes.add(
                    path + ["begins", .key(platform.rawValue)],
                    "the beginning on \(platform.rawValue) is empty; write `\(platform.versionKey.rawValue)`, `at`, or both"
                )
            }
            if let window = era.changeover?.window, window.from > 0 || window.until < 0 {
                mistakes.add(
                    path + ["changeover"],
                    "the window doesn't include the change itself; write a negative `from` (`-24h`) and a positive `until` (`+48h`)"
                )
            }
        }
    }

    /// Adds mistakes about eras that aren't listed oldest first.
    private func addOrderMistakes(to mistakes: inout [PolicyMistake]) {
        for timeline in timelines.known {
            guard let platform = timeline.platform else { continue }
            var lastDate: (date: Date, era: Int)?
            var lastVersion: (version: AppVersion, era: Int)?
            for (index, beginning) in timeline.beginnings.enumerated() {
                let path: [PolicyMistake.Step] = ["eras", .index(index), "begins", .key(platform.rawValue)]
                // Only a written `new` is a mistake. `timeline.beginnings` also has `new` for a beginning on iOS from
                // before the platform's store opened, if it is inherited (rule A8 of Docs/decision-rules.md).
                let written =
                    eras[index].begins[platform] ?? (platform.inheritsFromIOS ? eras[index].begins[.iOS] : nil)
                mistakes.add(
                    path, if: written == .new && eras[..<index].contains { $0.begins[platform] != nil },
                    "the app can't be `new` on \(platform.rawValue), because an earlier era begins there; remove `new` or that earlier beginning",
                    code: "eras-backwards")
                if let date = beginning?.date {
                    if let lastDate, date < lastDate.date {
                        mistakes.add(
                            path + ["at"],
                            "`\(eras[index].name)` begins before `\(eras[lastDate.era].name)` does; write the eras oldest first",
                            code: "eras-backwards")
                    }
                    lastDate = (date, index)
                }
                if let version = beginning?.version {
                    if let lastVersion, version < lastVersion.version, timeline.versionsRise,
                        timeline.erasOfRelease == nil
                    {
                        mistakes.add(
                            path + [.key(platform.versionKey.rawValue)],
                            "`\(version)` is lower than `\(lastVersion.version)`, where `\(eras[lastVersion.era].name)` begins; correct one of them"
                                + (platform == .macOS ? "" : ", or set `buildNumbers: restarted`"),
                            code: "eras-backwards")
                    }
                    lastVersion = (version, index)
                }
            }
        }
    }

    /// Adds mistakes about missing changeovers. An era needs one if it begins at a date and follows an honored era: an
    /// era from which customers keep an entitlement.
    private func addChangeoverMistakes(to mistakes: inout [PolicyMistake]) {
        for index in eras.indices where eras[index].changeover == nil {
            let followsHonoredEra = timelines.known.contains { timeline in
                guard timeline.beginnings[index]?.date != nil, let previous = timeline.eras.last(before: index)
                else { return false }
                return entitlements.contains { $0.honoredEras.contains(previous) }
            }
            mistakes.add(
                ["eras", .index(index)], if: followsHonoredEra,
                "`\(eras[index].name)` doesn't state its changeover, so customers who buy during the change may be assigned to the wrong era; write `changeover: { from: -24h, until: +48h }`, or `changeover: none` if price and version changed at one instant",
                code: "no-changeover")
        }
    }

    /// Adds mistakes about releases in the wrong order, in a list with undated releases.
    private func addReleaseMistakes(to mistakes: inout [PolicyMistake]) {
        for platform in Platform.allCases {
            let list = releases.indices.filter { releases[$0].platform == platform }
            guard list.contains(where: { releases[$0].releasedAt == .undated }) else { continue }
            // The latest instant and the latest day so far. An instant doesn't replace a day, or the reverse, because
            // their order may be uncertain.
            var (lastInstant, lastDay) = (Release.Moment.undated, Release.Moment.undated)
            for index in list {
                let moment = releases[index].releasedAt
                if moment.isCertainlyEarlier(than: lastInstant) || moment.isCertainlyEarlier(than: lastDay) {
                    mistakes.add(
                        ["releases", .index(index)],
                        "this release is older than one listed before it on \(platform.rawValue), and a list with undated releases must be oldest first; move it, or date every release"
                    )
                } else if case .instant = moment {
                    lastInstant = moment
                } else if case .day = moment {
                    lastDay = moment
                }
            }
        }
    }

    /// Adds a mistake about a missing `buildNumbers`. The policy needs it if an era begins with a build, and no release
    /// list tells in which era each build was on sale.
    private func addBuildNumberMistake(to mistakes: inout [PolicyMistake]) {
        guard buildNumbers == nil else { return }
        let dependent = timelines.known.first {
            $0.platform?.versionKey == .bundleVersion && $0.hasVersionBoundary && $0.erasOfRelease == nil
        }
        guard let platform = dependent?.platform else { return }
        mistakes.add(
            ["buildNumbers"],
            "the policy doesn't state whether build numbers on \(platform.rawValue) ever restarted; write `buildNumbers: increasing` if each build was higher than all earlier ones; if not, write `buildNumbers: restarted` or add a release list (`releases`)",
            code: "build-numbers-unsaid")
    }

    private func addEntitlementMistakes(to mistakes: inout [PolicyMistake]) {
        mistakes.add(
            ["entitlements"], if: entitlements.isEmpty,
            "there is no entitlement; write what customers may use, such as `everything: { honors: [paid] }`")
        let eraNames = eras.map(\.name)
        var names: Set<String> = []
        for entitlement in entitlements {
            let path: [PolicyMistake.Step] = ["entitlements", .key(entitlement.name)]
            mistakes.add(
                path, if: entitlement.name.isEmpty, "an entitlement has no name; give it one, such as `everything`")
            let isNew = names.insert(entitlement.name).inserted
            mistakes.add(path, if: !isNew, "`\(entitlement.name)` is listed twice; keep one")
            mistakes += entitlement.title?.mistakes(at: path + ["title"]) ?? []
            var products: Set<String> = []
            for (number, product) in entitlement.products.enumerated() {
                let path = path + ["products", .index(number)]
                if product.id.isEmpty {
                    mistakes.add(path, "the product ID is empty; copy it from App Store Connect")
                } else if !products.insert(product.id).inserted {
                    mistakes.add(path, "`\(product.id)` is listed twice; keep one")
                }
                mistakes += product.title?.mistakes(at: path + ["title"]) ?? []
            }
            for (number, honor) in (entitlement.honors ?? []).enumerated() {
                let path = path + ["honors", .index(number)]
                mistakes.add(
                    path, if: !eraNames.contains(honor.era),
                    "there is no era `\(honor.era)`; write one of \(eraNames.map { "`\($0)`" }.joined(separator: ", "))"
                )
                if let since = honor.boughtSince, let before = honor.boughtBefore, since >= before {
                    mistakes.add(path, "`boughtSince` must be earlier than `boughtBefore`")
                }
            }
            switch entitlement.trial {
            case .sessions(let count) where count < 1, .days(let count) where count < 1:
                mistakes.add(
                    path + ["trial"],
                    "a trial has at least 1 session or day, not \(count); correct it, or remove `trial`")
            case .sessions, .days, nil: break
            }
        }
    }

    private func addAcknowledgmentMistakes(to mistakes: inout [PolicyMistake]) {
        var findings: Set<[String]> = []
        for (index, acknowledgment) in acknowledgments.enumerated() {
            let path: [PolicyMistake.Step] = ["acknowledge", .index(index)]
            mistakes.add(
                path + ["reason"], if: acknowledgment.reason.allSatisfy(\.isWhitespace),
                "the reason is empty; write why the finding is intended")
            let isNew = findings.insert([acknowledgment.code, acknowledgment.at]).inserted
            mistakes.add(
                path, if: !isNew, "`\(acknowledgment.code)` at `\(acknowledgment.at)` is acknowledged twice; keep one")
        }
    }
}

extension [PolicyMistake] {
    /// Adds a mistake at a path of the policy, if the condition holds. `PolicyMistake.init` describes the other
    /// parameters.
    mutating func add(
        _ path: [PolicyMistake.Step], if isMistaken: Bool = true, _ message: @autoclosure () -> String,
        code: String = "mistake"
    ) {
        if isMistaken { append(PolicyMistake(path, message(), code: code)) }
    }
}
