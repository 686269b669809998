import Foundation
import TenureCore

/// Reads a file of policy cases: test customers and the decisions that a policy should make about them. A case
/// describes a customer by artifacts, such as app transactions and receipts. Fields that a case leaves out have
/// defaults: for example, an artifact without `signedDate` was signed at the case's `now`.
struct CaseReader {
    /// Collects the mistakes in the file.
    var reading: Reading
    /// The contents of the policy file that the cases test; nil if the file of cases contains the whole policy.
    let basePolicy: DocumentNode?
    /// Returns the bytes of a policy's release list (a CSV file), by the path in the policy.
    let releaseList: (String) throws -> [UInt8]

    /// Returns all cases, or throws all mistakes.
    mutating func cases(of document: DocumentNode) throws(PolicyFileError) -> [PolicyCase] {
        let file = document.position.file
        guard let fields = fields(Part(root: document), .file) else { throw reading.error(mainFile: file) }
        var policies = PolicyOverlays(base: PolicyOverlays.document(fields["policy"], over: basePolicy))
        let now = fields["now"].flatMap { $0.dayOrInstant(&reading) }
        let elements = fields["cases"]?.elements(&reading, example: "cases: [{ name: …, app: {…}, expect: {…} }]") ?? []
        if fields["cases"] != nil, elements.isEmpty {
            reading.report("there is no case; write at least one", at: document.position)
        }
        var cases: [PolicyCase] = []
        for element in elements {
            if let policyCase = policyCase(element, now: now, &policies) { cases.append(policyCase) }
        }
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
    private mutating func policyCase(_ part: Part, now: Date?, _ policies: inout PolicyOverlays) -> PolicyCase? {
        guard let fields = fields(part, .policyCase) else { return nil }
        let name = fields["name"].flatMap { $0.name(&reading, example: "bought build 37 in 2014") }
        let ownNow = fields["now"].map { $0.dayOrInstant(&reading) }
        guard let now = ownNow ?? now else {
            if ownNow == nil {
                reading.report(
                    "`now` is missing in this case and at the top of the file; write `now: 2015-07-01`",
                    at: part.position)
            }
            return nil
        }
        let policy = policies.policy(with: fields["policy"], at: part.position, &reading, releaseList)
        let artifacts = self.artifacts(fields, now: now)
        let promises = fields["promises"].map { self.promises($0, artifacts.app, now: now, &policies) } ?? []
        let expectations = fields["expect"].map { self.expectations($0) } ?? []
        guard let name, let policy else { return nil }
        return PolicyCase(
            name: name,
            position: part.position.description,
            policy: policy, promises: promises, now: now, expectations: expectations, artifacts: artifacts)
    }

    // MARK: Evidence

    /// Reads the artifacts of a case. Artifacts come from an App Store environment, such as Production or Sandbox. Only
    /// the artifacts of one environment are returned.
    private mutating func artifacts(_ fields: Fields, now: Date) -> PolicyCase.Artifacts {
        var result = PolicyCase.Artifacts()
        let environment = environment(fields["environment"]) ?? .production
        let app = fields["app"].map { self.list($0) } ?? []
        let transactions = fields["transactions"].map { self.list($0) } ?? []
        let environments = (app + transactions).map { self.environment(of: $0) ?? environment }
        // Rule I3 of Docs/decision-rules.md: if there is evidence of Production, evidence of other environments is
        // ignored.
        result.environment = environments.contains(.production) ? .production : environment
        for part in app where (self.environment(of: part) ?? environment) == result.environment {
            if let fields = self.fields(part, .app) { result.app.append(proof(fields, now: now)) }
        }
        for (index, part) in transactions.enumerated()
        where (self.environment(of: part) ?? environment) == result.environment {
            if let purchase = transaction(part, index: index, now: now) { result.transactions.append(purchase) }
        }
        for part in fields["renewals"].map({ self.list($0) }) ?? [] {
            if let renewal = renewal(part, of: result.transactions, now: now) { result.renewals.append(renewal) }
        }
        if let part = fields["purchasesComplete"] { result.purchasesAreComplete = part.boolean(&reading) ?? true }
        for part in fields["support"].map({ self.list($0) }) ?? [] {
            if let grant = supportGrant(part, now: now) { result.support.append(grant) }
        }
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
        guard case .mapping(let entries) = artifact.node.content else { return nil }
        return environment(entries.first { $0.key == "environment" }.map { Part($0, under: artifact.path) })
    }

    /// Returns the elements of a list. A single value is read as a list of one element.
    private mutating func list(_ part: Part) -> [Part] {
        if case .mapping = part.node.content { return [part] }
        return part.elements(&reading, example: "- …") ?? []
    }

    /// Reads one app artifact or a list of app artifacts.
    private mutating func app(_ part: Part, now: Date) -> [AppProof] {
        list(part).compactMap { part in
            fields(part, .app).map { proof($0, now: now) }
        }
    }

    /// Reads an instant, or a day, which means its midnight in UTC; nil if the field is missing or `none`.
    private mutating func date(_ part: Part?) -> Date? {
        part.flatMap { $0.isNone ? nil : $0.dayOrInstant(&reading) }
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
            kind: kind,
            signedDate: fields["signedDate"] == nil ? now : date(fields["signedDate"]),
            id: id,
            originalPlatform: platform,
            originalAppVersion: text(fields["originalAppVersion"]),
            originalPurchaseDate: date(fields["originalPurchaseDate"]),
            preorderDate: date(fields["preorderDate"]),
            revocationDate: date(fields["revocationDate"]),
            expirationDate: date(fields["expirationDate"]))
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
                part.isNone ? nil : part.word(&reading, of: TransactionType.self)?.productType
            } else {
                expires == nil ? .nonConsumable : .autoRenewable
            }
        guard let productID = fields["productID"]?.name(&reading, example: "com.example.calculator.yearly") else {
            return nil
        }
        return Purchase(
            transactionID: id,
            originalTransactionID: text(fields["originalTransactionID"]),
            productID: productID,
            type: type,
            purchaseDate: fields["purchaseDate"] == nil ? min(now, expires ?? now) : date(fields["purchaseDate"]),
            expiresDate: expires,
            revocationDate: date(fields["revocationDate"]),
            isUpgraded: fields["isUpgraded"].flatMap { $0.boolean(&reading) } ?? false,
            isFamilyShared: fields["familyShared"].flatMap { $0.boolean(&reading) } ?? false,
            signedDate: fields["signedDate"] == nil ? now : date(fields["signedDate"]))
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
            signedDate: fields["signedDate"] == nil ? now : date(fields["signedDate"]))
    }

    /// Reads an entitlement that support granted to the customer or revoked.
    private mutating func supportGrant(_ part: Part, now: Date) -> SupportGrant? {
        guard let fields = fields(part, .support) else { return nil }
        let date = fields["date"] == nil ? now : self.date(fields["date"])
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
    private mutating func promises(
        _ part: Part, _ app: [AppProof], now: Date, _ policies: inout PolicyOverlays
    ) -> [Promise] {
        var result: [Promise] = []
        for part in list(part) {
            guard let fields = fields(part, .promise) else { continue }
            let entitlement = fields["entitlement"].flatMap { $0.name(&reading, example: "everything") }
            let given = fields["given"].flatMap { self.fields($0, .given) }
            let promiseDate = given?["now"].flatMap { $0.dayOrInstant(&reading) } ?? now
            let promiseProofs = given?["app"].map { self.app($0, now: promiseDate) } ?? app
            guard let entitlement,
                let policy = policies.policy(with: given?["policy"], at: part.position, &reading, releaseList)
            else { continue }
            let evidence = Evidence(environment: .production, app: promiseProofs, purchasesAreComplete: true)
            let rights =
                decide(evidence, under: policy, at: promiseDate).first { $0.entitlement == entitlement }?.eraRights
                ?? []
            if rights.isEmpty {
                reading.report(
                    "no era gives `\(entitlement)` under the policy, artifacts and date of `given`, so nothing was promised; correct `given`",
                    at: part.position)
            }
            result += rights.map {
                Promise(
                    entitlement: entitlement, acquisition: $0.acquisition, policy: policy,
                    until: fields["until"] == nil ? $0.until : date(fields["until"]))
            }
        }
        return result
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
        return PolicyCase.Expectation(
            entitlement: entitlement,
            outcome: outcome,
            until: date(fields["until"]),
            reasons: codes(fields["reasons"]),
            notReasons: codes(fields["notReasons"]),
            nextSteps: fields["nextSteps"].map { words($0) },
            sentence: texts(fields["sentence"]),
            notSentence: texts(fields["notSentence"]))
    }

    /// Reads one string or a list of strings.
    private mutating func texts(_ part: Part?) -> [String] {
        guard let part else { return [] }
        if part.node.text != nil { return [part.name(&reading, example: "changeover")].compactMap { $0 } }
        return (part.elements(&reading, example: "[changeover]") ?? []).compactMap {
            $0.name(&reading, example: "changeover")
        }
    }

    /// Reads one reason code or a list of reason codes. Unknown codes are mistakes: a case that forbids a misspelled
    /// code would always pass.
    private mutating func codes(_ part: Part?) -> [String] {
        guard let part else { return [] }
        if part.node.text != nil { return [part.word(&reading, of: Reason.Code.self)].compactMap { $0?.rawValue } }
        return (words(part) as [Reason.Code]).map(\.rawValue)
    }

    /// Reads a list of words, each of which must be a case of the enumeration.
    private mutating func words<Word: RawRepresentable & CaseIterable>(_ part: Part) -> [Word]
    where Word.RawValue == String {
        (part.elements(&reading, example: "[purchases]") ?? []).compactMap { $0.word(&reading, of: Word.self) }
    }
}

/// The values of the field `type` of a transaction. `unknown` is a product type that Tenure doesn't know.
private enum TransactionType: String, CaseIterable {
    case nonConsumable, consumable, nonRenewing, autoRenewable, unknown

    var productType: Purchase.ProductType {
        switch self {
        case .nonConsumable: .nonConsumable
        case .consumable: .consumable
        case .nonRenewing: .nonRenewing
        case .autoRenewable: .autoRenewable
        case .unknown: .unknown("Something New")
        }
    }
}

extension Part {
    /// Whether the value is `none`, which means that the artifact doesn't have the field.
    fileprivate var isNone: Bool {
        if case .plain("none") = node.content { true } else { false }
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
