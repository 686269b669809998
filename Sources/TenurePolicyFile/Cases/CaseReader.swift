import Foundation
import TenureCore

/// Reads a file of policy cases: test customers and the decisions that a policy should make about them. A case
/// describes a customer by artifacts, such as app transactions and receipts. Fields that a case leaves out have
/// defaults: for example, an artifact without `signedDate` was signed at the case's `now`.
struct CaseReader {
    /// Collects the mistakes in the file.
    var reading: Reading
    /// The policy that the cases test, as a document. At first it is the policy file. `cases(of:)` applies the changes
    /// at the top of the file of cases. Nil if each case has a whole policy.
    var basePolicy: DocumentNode?
    /// The base policy, kept so that it is read only once for all cases without changes. Nil until it is read.
    private(set) var unchangedPolicy: Policy?
    /// Returns the bytes of a policy's release list (a CSV file), by the path in the policy.
    let releaseList: (String) throws -> [UInt8]

    /// Returns all cases, or throws all mistakes.
    mutating func cases(of document: DocumentNode) throws(PolicyFileError) -> [PolicyCase] {
        let file = document.position.file
        guard let fields = fields(Part(root: document), .file) else { throw reading.error(mainFile: file) }
        basePolicy = policyDocument(with: fields["policy"])
        let now = fields["now"].flatMap { $0.dayOrInstant(&reading) }
        let elements = fields["cases"]?.elements(&reading, example: "cases: [{ name: …, app: {…}, expect: {…} }]") ?? []
        if fields["cases"] != nil, elements.isEmpty {
            reading.report("there is no case; write at least one", at: document.position)
        }
        let cases = elements.compactMap { policyCase($0, now: now) }
        guard reading.mistakes.isEmpty else { throw reading.error(mainFile: file) }
        return cases
    }

    /// Reads a mapping. Reports unknown and missing keys. For any other value, reports a mistake and returns nil.
    private mutating func fields(_ part: Part, _ shape: CaseShape) -> Fields? {
        Fields(part, keys: shape.keys, required: shape.required, &reading)
    }

    /// Reads one case. If its name, its date or its policy can't be read, reports mistakes and returns nil.
    ///
    /// - Parameter now: the `now` at the top of the file, for a case without its own `now`.
    private mutating func policyCase(_ part: Part, now: Date?) -> PolicyCase? {
        guard let fields = fields(part, .policyCase) else { return nil }
        let name = fields["name"].flatMap { $0.name(&reading, example: "bought build 37 in 2014") }
        // Nil if the case has no `now`; `.some(nil)` if its `now` can't be read, which is reported there.
        let ownNow = fields["now"].map { $0.dayOrInstant(&reading) }
        guard let now = ownNow ?? now else {
            if ownNow == nil {
                reading.report(
                    "`now` is missing in this case and at the top of the file; write `now: 2015-07-01`",
                    at: part.position)
            }
            return nil
        }
        let policy = policy(with: fields["policy"], at: part.position)
        let artifacts = artifacts(fields, now: now)
        let promises = promises(fields["promises"], artifacts.app, now: now)
        let expectations = fields["expect"].map { self.expectations($0) } ?? []
        guard let name, let policy else { return nil }
        return PolicyCase(
            name: name, position: part.position.description, policy: policy, promises: promises, now: now,
            expectations: expectations, artifacts: artifacts)
    }

    // MARK: Evidence

    /// Reads the artifacts of a case. Artifacts come from an App Store environment, such as Production or Sandbox. Only
    /// the artifacts of one environment are returned.
    private mutating func artifacts(_ fields: Fields, now: Date) -> PolicyCase.Artifacts {
        var result = PolicyCase.Artifacts()
        let environment = environment(fields["environment"]) ?? .production
        let app = list(fields["app"])
        let transactions = list(fields["transactions"])
        // The environments of the app artifacts, then those of the transactions.
        let environments = (app + transactions).map { self.environment(of: $0) ?? environment }
        // Rule I3 of Docs/decision-rules.md: if there is evidence of Production, evidence of other environments is
        // ignored.
        result.environment = environments.contains(.production) ? .production : environment
        for (part, environment) in zip(app, environments) where environment == result.environment {
            if let fields = self.fields(part, .app) { result.app.append(proof(fields, now: now)) }
        }
        for (index, part) in transactions.enumerated() where environments[app.count + index] == result.environment {
            if let purchase = transaction(part, index: index, now: now) { result.transactions.append(purchase) }
        }
        let purchases = result.transactions
        result.renewals = list(fields["renewals"]).compactMap { renewal($0, of: purchases, now: now) }
        if let part = fields["purchasesComplete"] { result.purchasesAreComplete = part.boolean(&reading) ?? true }
        result.support = list(fields["support"]).compactMap { supportGrant($0, now: now) }
        if let part = fields["persona"], let fields = self.fields(part, .persona) {
            let name = fields["name"].flatMap { $0.name(&reading, example: "buyer of 2014") }
            result.persona = Persona(name: name ?? "persona", proof: proof(fields, now: now))
        }
        return result
    }

    /// Reads the name of an App Store environment; nil if the field is missing.
    private mutating func environment(_ part: Part?) -> AppStoreEnvironment? {
        part.flatMap { $0.word(&reading, of: AppStoreEnvironment.self) }
    }

    /// Returns the artifact's own `environment`; nil if it has none. The caller then uses the environment of the case.
    private mutating func environment(of artifact: Part) -> AppStoreEnvironment? {
        environment(artifact.node.entries.first { $0.key == "environment" }.map { Part($0, under: artifact.path) })
    }

    /// Returns the elements of a list; empty if the field is missing. A single mapping is read as a list of one
    /// element.
    private mutating func list(_ part: Part?) -> [Part] {
        guard let part else { return [] }
        if case .mapping = part.node.content { return [part] }
        return part.elements(&reading, example: "- …") ?? []
    }

    /// Reads an instant, or a day, which means its midnight in UTC; nil for `none`. If the field is missing, returns
    /// `missing`.
    private mutating func date(_ part: Part?, ifMissing missing: Date? = nil) -> Date? {
        guard let part else { return missing }
        return part.isNone ? nil : part.dayOrInstant(&reading)
    }

    /// Reads a string, with or without quotes; nil if the field is missing or `none`. The string is an ID or a version.
    /// The version may be malformed, because a case may test that.
    private mutating func text(_ part: Part?) -> String? {
        guard let part, !part.isNone else { return nil }
        if let text = part.node.text { return text }
        reading.report("\(part.node.kindInWords) isn't possible here; write a string, or `none`", at: part.position)
        return nil
    }

    /// Reads an app transaction or a receipt. Without `kind`, it is an app transaction.
    private mutating func proof(_ fields: Fields, now: Date) -> AppProof {
        let kinds: [AppProof.Kind] = [.appTransaction, .receipt, .serverAppTransaction]
        let kind = fields["kind"].flatMap { $0.word(&reading, among: kinds) } ?? .appTransaction
        let id: AcquisitionID? =
            text(fields["appTransactionID"]).map { .appTransaction($0) }
            ?? text(fields["downloadID"]).map { .download($0) }
        // Receipts don't contain a platform.
        var platform: Platform? = kind == .receipt ? nil : .iOS
        if let part = fields["originalPlatform"] { platform = self.platform(part) }
        return AppProof(
            kind: kind, signedDate: date(fields["signedDate"], ifMissing: now), id: id, originalPlatform: platform,
            originalAppVersion: text(fields["originalAppVersion"]),
            originalPurchaseDate: date(fields["originalPurchaseDate"]), preorderDate: date(fields["preorderDate"]),
            revocationDate: date(fields["revocationDate"]), expirationDate: date(fields["expirationDate"]))
    }

    /// Reads the platform in an artifact. Returns nil for `none`, and for `unknown`, which means a platform that Tenure
    /// doesn't know.
    private mutating func platform(_ part: Part) -> Platform? {
        if part.isNone || part.node.text == "unknown" { return nil }
        return part.node.text.flatMap { Platform(appStoreName: $0) } ?? part.platform(&reading)
    }

    /// Reads a transaction. Without `transactionID`, its ID is its position in the list. Without `type`, a transaction
    /// with an expiration date is a subscription, and any other transaction is a non-consumable.
    private mutating func transaction(_ part: Part, index: Int, now: Date) -> Purchase? {
        guard let fields = fields(part, .transaction) else { return nil }
        let id = text(fields["transactionID"]) ?? "\(index + 1)"
        let expires = date(fields["expiresDate"])
        let type: Purchase.ProductType? =
            if let part = fields["type"] {
                part.isNone ? nil : part.productType(&reading)
            } else {
                expires == nil ? .nonConsumable : .autoRenewable
            }
        guard let productID = fields["productID"]?.name(&reading, example: "com.example.calculator.yearly") else {
            return nil
        }
        return Purchase(
            transactionID: id, originalTransactionID: text(fields["originalTransactionID"]), productID: productID,
            type: type, purchaseDate: date(fields["purchaseDate"], ifMissing: min(now, expires ?? now)),
            expiresDate: expires, revocationDate: date(fields["revocationDate"]),
            isUpgraded: fields["isUpgraded"].flatMap { $0.boolean(&reading) } ?? false,
            isFamilyShared: fields["familyShared"].flatMap { $0.boolean(&reading) } ?? false,
            signedDate: date(fields["signedDate"], ifMissing: now))
    }

    /// Reads renewal info, Apple's statement about the next renewal of a subscription. It may leave out
    /// `originalTransactionID`, the ID of the subscription, if all transactions belong to the same subscription.
    private mutating func renewal(_ part: Part, of transactions: [Purchase], now: Date) -> Renewal? {
        guard let fields = fields(part, .renewal) else { return nil }
        let subscriptions = Set(transactions.map(\.originalTransactionID))
        guard let id = text(fields["originalTransactionID"]) ?? (subscriptions.count == 1 ? subscriptions.first : nil)
        else {
            reading.report(
                "the renewal info doesn't name its subscription; write `originalTransactionID: \"1\"`",
                at: part.position)
            return nil
        }
        return Renewal(
            originalTransactionID: id,
            productID: fields["productID"].flatMap { $0.name(&reading, example: "com.example.calculator.yearly") },
            gracePeriodExpiresDate: date(fields["gracePeriodExpiresDate"]),
            isInBillingRetryPeriod: fields["isInBillingRetryPeriod"].flatMap { $0.boolean(&reading) } ?? false,
            signedDate: date(fields["signedDate"], ifMissing: now))
    }

    /// Reads an entitlement that support granted to the customer or revoked.
    private mutating func supportGrant(_ part: Part, now: Date) -> SupportGrant? {
        guard let fields = fields(part, .support) else { return nil }
        let date = self.date(fields["date"], ifMissing: now)
        let until = self.date(fields["until"])
        let grant = fields["grant"].flatMap { $0.name(&reading, example: "everything") }
        let revocation = fields["revocation"].flatMap { $0.name(&reading, example: "everything") }
        switch (grant, revocation) {
        case (let name?, nil): return date.map { SupportGrant(.grant, of: name, date: $0, until: until) }
        case (nil, let name?): return date.map { SupportGrant(.revocation, of: name, date: $0) }
        case (nil, nil), (.some, .some):
            reading.report(
                "this entry must be a grant or a revocation; write either `grant: everything` or `revocation: everything`",
                at: part.position)
            return nil
        }
    }

    // MARK: Promises

    /// Reads promises. A promise is a right that a customer got under an earlier version of the policy, and that the
    /// current policy can't take away. `given` describes how the customer got the right: the changes that lead back to
    /// the earlier policy, the app artifacts at that time (by default the artifacts of the case), and the date.
    private mutating func promises(_ part: Part?, _ app: [AppProof], now: Date) -> [Promise] {
        var result: [Promise] = []
        for part in list(part) {
            guard let fields = fields(part, .promise) else { continue }
            let entitlement = fields["entitlement"].flatMap { $0.name(&reading, example: "everything") }
            let given = fields["given"].flatMap { self.fields($0, .given) }
            let promiseDate = given?["now"].flatMap { $0.dayOrInstant(&reading) } ?? now
            let promiseProofs = given?["app"].map { app in
                list(app).compactMap { part in self.fields(part, .app).map { proof($0, now: promiseDate) } }
            }
            guard let entitlement, let policy = policy(with: given?["policy"], at: part.position) else { continue }
            let evidence = Evidence(environment: .production, app: promiseProofs ?? app, purchasesAreComplete: true)
            let decisions = decide(evidence, under: policy, at: promiseDate)
            let rights = decisions.first { $0.entitlement == entitlement }?.eraRights ?? []
            if rights.isEmpty {
                reading.report(
                    "no era gives `\(entitlement)` under the policy, artifacts and date of `given`, so nothing was promised; correct `given`",
                    at: part.position)
            }
            result += rights.map {
                Promise(
                    entitlement: entitlement, acquisition: $0.acquisition, policy: policy,
                    until: date(fields["until"], ifMissing: $0.until))
            }
        }
        return result
    }

    // MARK: Policies

    /// Returns the document of the base policy with the changes in `overlay`; nil if there is neither.
    private func policyDocument(with overlay: Part?) -> DocumentNode? {
        guard let overlay else { return basePolicy }
        return basePolicy?.overlaid(with: overlay.node) ?? overlay.node
    }

    /// Returns the base policy with the changes in `overlay`. If the result has mistakes, reports all of these mistakes
    /// and returns nil.
    private mutating func policy(with overlay: Part?, at position: SourcePosition) -> Policy? {
        if overlay == nil, let unchangedPolicy { return unchangedPolicy }
        guard let document = policyDocument(with: overlay) else {
            reading.report("there is no policy to test; write `policy` at the top, or name a policy file", at: position)
            return nil
        }
        do {
            let policy = try PolicyReader.read(document, mistakes: [], releaseList: releaseList)
            if overlay == nil { unchangedPolicy = policy }
            return policy
        } catch {
            reading.add(error.mistakes, breaking: [])
            return nil
        }
    }

    // MARK: Expectations

    /// Reads what the case expects of each entitlement.
    private mutating func expectations(_ part: Part) -> [PolicyCase.Expectation] {
        guard case .mapping(let entries) = part.node.content, !entries.isEmpty else {
            reading.report(
                "`expect` is empty; write an outcome for an entitlement, such as `everything: granted`",
                at: part.position)
            return []
        }
        return entries.compactMap { expectation(Part($0, under: part.path), of: $0.key) }
    }

    /// Reads the expected decision on one entitlement: an outcome, such as `granted`, or a mapping with `outcome` and
    /// other fields.
    private mutating func expectation(_ part: Part, of entitlement: String) -> PolicyCase.Expectation? {
        guard case .mapping = part.node.content else {
            return part.word(&reading, of: Decision.Outcome.self).map {
                PolicyCase.Expectation(entitlement: entitlement, outcome: $0)
            }
        }
        guard let fields = fields(part, .expectation),
            let outcome = fields["outcome"].flatMap({ $0.word(&reading, of: Decision.Outcome.self) })
        else { return nil }
        let nextSteps = fields["nextSteps"].map { part in
            (part.elements(&reading, example: "[purchases]") ?? []).compactMap { $0.word(&reading, of: NextStep.self) }
        }
        return PolicyCase.Expectation(
            entitlement: entitlement, outcome: outcome, until: date(fields["until"]),
            reasons: codes(fields["reasons"]), notReasons: codes(fields["notReasons"]), nextSteps: nextSteps,
            sentence: texts(fields["sentence"]), notSentence: texts(fields["notSentence"]))
    }

    /// Returns the elements of a list of texts. A single text is read as a list of one element.
    private mutating func oneOrMore(_ part: Part?, example: String) -> [Part] {
        guard let part else { return [] }
        return part.node.text == nil ? part.elements(&reading, example: example) ?? [] : [part]
    }

    /// Reads one string or a list of strings.
    private mutating func texts(_ part: Part?) -> [String] {
        oneOrMore(part, example: "[you paid]").compactMap { $0.name(&reading, example: "you paid") }
    }

    /// Reads one reason code or a list of reason codes. Unknown codes are mistakes: a case that forbids a misspelled
    /// code would always pass.
    private mutating func codes(_ part: Part?) -> [String] {
        oneOrMore(part, example: "[eraHonored]").compactMap { $0.word(&reading, of: Reason.Code.self)?.rawValue }
    }
}

extension Part {
    /// Whether the value is `none`, which means that the artifact doesn't have the field.
    fileprivate var isNone: Bool { if case .plain("none") = node.content { true } else { false } }

    /// Reads the `type` of a transaction. `unknown` is a product type that Tenure doesn't know.
    fileprivate func productType(_ reading: inout Reading) -> Purchase.ProductType? {
        let types: [Purchase.ProductType] = [
            .nonConsumable, .consumable, .nonRenewing, .autoRenewable, .unknown("Something New"),
        ]
        return word(&reading, among: types) { if case .unknown = $0 { "unknown" } else { "\($0)" } }
    }

    /// Reads `true` or `false`.
    fileprivate func boolean(_ reading: inout Reading) -> Bool? {
        switch node.content {
        case .plain("true"): return true
        case .plain("false"): return false
        default:
            reading.report(
                "\(node.kindInWords) isn't a Boolean; write `true` or `false` without quotation marks", at: position)
            return nil
        }
    }
}
