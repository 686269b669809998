import Foundation
import TenureAppStore
import TenureCore
package import TenurePolicyFile

/// Reads scenarios from YAML or JSON.
package struct ScenarioReader {
    var reading: Reading

    /// Reads a scenario.
    ///
    /// - Parameter fileName: the file's name in messages.
    /// - Throws: a `PolicyFileError` with every mistake, in the order of the text.
    package static func read(
        _ bytes: some Collection<UInt8>, named fileName: String
    ) throws(PolicyFileError) -> Scenario {
        let (root, mistakes) = try PolicyFile.document(
            bytes, named: fileName,
            as: DocumentKind("a scenario", beginning: "`scenario: ` and its name", keys: ["scenario", "timeline"]))
        var reader = ScenarioReader(reading: Reading(mistakes: mistakes))
        let scenario = reader.scenario(Part(root: root))
        guard let scenario, reader.reading.mistakes.isEmpty else { throw reader.reading.error(mainFile: fileName) }
        return scenario
    }

    /// Reads a mapping that may have only the keys of `shape`, and must have its required keys. Returns nil if the part
    /// isn't a mapping.
    mutating func fields(_ part: Part, _ shape: ScenarioShape) -> Fields? {
        Fields(part, keys: shape.keys, required: shape.required, &reading)
    }

    private mutating func scenario(_ part: Part) -> Scenario? {
        guard let fields = fields(part, .file) else { return nil }
        let name = fields["scenario"].flatMap { $0.name(&reading, example: "The Calculator disaster") }
        // The story is only for readers of the file.
        _ = fields["story"].flatMap { $0.name(&reading, example: "What happened, in a sentence") }
        let policy = fields["policy"].flatMap { $0.name(&reading, example: "calculator.policy.yaml") }
        let seed = fields["seed"].flatMap { $0.name(&reading, example: "calculator") }
        let environment = fields["environment"].flatMap { $0.word(&reading, of: AppStoreEnvironment.self) }
        if environment == .xcode, let part = fields["environment"] {
            reading.report("`environment` must be `Production` or `Sandbox`; write one of them", at: part.position)
        }
        let periods = fields["sandbox"].map { sandboxPeriods($0) }
        if periods != nil, environment != .sandbox, let part = fields["sandbox"] {
            reading.report("`sandbox` needs `environment: Sandbox`", at: part.position)
        }
        let begins = fields["begins"].flatMap { $0.dayOrInstant(&reading) }
        let app = fields["app"].flatMap { self.app($0) }
        let customers = fields["customers"].map { self.customers($0) } ?? []
        let timeline =
            fields["timeline"].map { self.timeline($0, customers: customers.map(\.name), begins: begins) } ?? []
        guard let name, let begins, let app else { return nil }
        return Scenario(
            name: name, policy: policy,
            header: JournalHeader(
                seed: seed ?? name, environment: environment ?? .production, now: begins, apps: [app],
                sandboxPeriods: periods),
            customers: customers, timeline: timeline)
    }

    /// Reads the lengths of periods in the sandbox. A missing length has its default.
    private mutating func sandboxPeriods(_ part: Part) -> SandboxPeriods {
        var periods = SandboxPeriods()
        guard let fields = fields(part, .sandbox) else { return periods }
        func length(_ name: String, atLeast shortest: TimeInterval, _ example: String) -> TimeInterval? {
            guard let part = fields[name], let seconds = part.duration(&reading, example: example) else { return nil }
            if seconds < shortest {
                reading.report("`\(name)` is too short; write `\(example)` or a longer time", at: part.position)
            }
            return max(seconds, shortest)
        }
        periods.days = length("days", atLeast: SandboxPeriods.minimumPeriod, "1m") ?? periods.days
        periods.weeks = length("weeks", atLeast: SandboxPeriods.minimumPeriod, "1m") ?? periods.weeks
        periods.month = length("month", atLeast: SandboxPeriods.minimumPeriod, "1m") ?? periods.month
        periods.waitingDay = length("waitingDay", atLeast: 1, "1s") ?? periods.waitingDay
        if let part = fields["renewals"], let renewals = part.integer(&reading, example: "12") {
            if !(0...1000).contains(renewals) {
                reading.report("a subscription renews 0 to 1000 times in the sandbox; write `12`", at: part.position)
            }
            periods.renewals = min(max(renewals, 0), 1000)
        }
        return periods
    }

    // MARK: Customers

    private mutating func customers(_ part: Part) -> [Scenario.Customer] {
        entries(part, example: "customers: { Ada: {} }").compactMap { name, part in
            if ScenarioShape.step.keys.contains(name) {
                reading.report(
                    "`\(name)` is a key of steps in the timeline; give the customer another name", at: part.position)
            }
            guard let fields = fields(part, .customer) else { return nil }
            let storefront = fields["storefront"].flatMap { $0.name(&reading, example: "USA") } ?? Storefront.usa.code
            if let part = fields["storefront"], Storefront(code: storefront) == nil {
                reading.report(
                    "`\(storefront.shortened)` isn't a storefront of the local App Store; \(Spelling.advice(for: storefront, among: Storefront.all.map(\.code)))",
                    at: part.position)
            }
            return Scenario.Customer(
                name: name, storefront: storefront,
                family: fields["family"].flatMap { $0.name(&reading, example: "Lovelace") },
                shows: fields["shows"].flatMap { $0.word(&reading, of: Scenario.Showing.self) } ?? .appTransaction)
        }
    }

    // MARK: Parts

    /// Reads a list. Mistakes name the `example` as what to write instead.
    mutating func list(_ part: Part?, example: String) -> [Part] { part?.elements(&reading, example: example) ?? [] }

    /// Reads a string as it is written, with or without quotes.
    mutating func text(_ part: Part?, example: String) -> String? {
        guard let part else { return nil }
        if let text = part.node.text { return text }
        reading.report(
            "\(part.node.kindInWords) isn't possible here; write a string such as `\(example)`", at: part.position)
        return nil
    }

    /// Reads an amount of money, in milliunits.
    mutating func amount(_ part: Part?) -> Int64? {
        guard let text = text(part, example: "4.99"), let part else { return nil }
        if let amount = Money.milliunits(text) { return amount }
        reading.report("`\(text.shortened)` isn't an amount; write one such as `4.99`, or `free`", at: part.position)
        return nil
    }

    /// Reads a mapping with keys that the author chooses, such as the names of customers.
    mutating func entries(_ part: Part, example: String) -> [(key: String, part: Part)] {
        guard case .mapping(let entries) = part.node.content else {
            reading.report("\(part.node.kindInWords) isn't possible here; write `\(example)`", at: part.position)
            return []
        }
        return entries.map { ($0.key, Part($0, under: part.path)) }
    }
}
