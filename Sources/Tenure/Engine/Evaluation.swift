import Foundation
import TenureCore

/// Computes the answers from everything that is known at one time.
///
/// An entitlement is granted if the evidence (what the App Store signed) proves it, even evidence that was stored at an
/// earlier start. An entitlement is denied only if all sources were read since the app started. Otherwise the
/// entitlement is undetermined, and has no grace period after a denial.
///
/// For example, StoreKit fails to list the transactions. The app transaction of an earlier start proves `everything`,
/// so `everything` stays granted. `cloud`, which a subscription would give, is undetermined instead of denied.
///
/// If the client has no service, the app's policy decides (`deviceAnswers`). If the client has a service,
/// `serviceAnswer` chooses between the service's answer and the policy's answer.
struct Evaluation {
    /// The app's options and configuration.
    let setup: Setup
    /// What the client found out since the start, such as the policy and the service's response.
    let facts: Facts
    /// What the device has stored, such as the account's evidence.
    let stored: StoredState
    /// What was read from the App Store since the start.
    let snapshot: AppStoreSnapshot
    /// The device's time.
    let clock: Date

    private var account: Account { stored.account }
    /// Whether this copy of the app didn't come from the App Store, TestFlight or Xcode.
    private var isOutside: Bool { !facts.distribution.hasPurchases }

    /// All results, for `CustomerState`.
    var customerSnapshot: CustomerState.Snapshot {
        CustomerState.Snapshot(
            customer: Tenure.Customer(
                answers: answers, acquisition: account.acquisition, environment: account.environment,
                distribution: facts.distribution, steps: snapshot.steps, policyError: facts.policyError,
                optionsError: setup.optionsError),
            productAnswers: productAnswers, floor: stored.time.now(clock), clockCorrections: facts.clockCorrections,
            finishedSearches: facts.finishedSearches, checkedAt: facts.checkedAt,
            accountChanges: facts.accountChanges, knowsAllNames: knowsAllNames, graceEnds: graceEnds,
            denials: account.denials,
            allowsEverything: setup.isListening || (isOutside && setup.options.outsideAppStore == .allow),
            hasNoGrace: isOutside && setup.options.outsideAppStore == .deny)
    }

    /// Whether the names of all entitlements are known, so that a name without an answer is misspelled.
    private var knowsAllNames: Bool {
        facts.hasFinishedSearch && facts.policyError == nil && (setup.service == nil || !account.serviceAnswers.isEmpty)
    }

    /// The answers about all known entitlements, including the entitlements that `Tenure.register` registered.
    var answers: [String: Tenure.Answer] {
        guard !facts.versionRights.isEmpty, !setup.isListening, !isOutside else { return provedAnswers }
        return answers(addingTo: provedAnswers)
    }

    /// The answers from the policy and from the service's response.
    private var provedAnswers: [String: Tenure.Answer] {
        guard !setup.isListening else { return [:] }
        if isOutside {
            let answers = (facts.policy?.entitlements ?? []).map { entitlement in
                Tenure.Answer.unanswered(
                    entitlement.name, title: title(of: entitlement.name), because: .outsideAppStore,
                    facts.distribution.rawValue, nextSteps: [.support])
            }
            return Self.byEntitlement(answers)
        }
        var answers = deviceAnswers
        guard setup.service != nil else { return answers }
        let grantsByNewPurchases = grants(by: account.unansweredTransactions)
        let confirmed = grantsByConfirmedPurchases
        let names = Set(answers.keys).union(account.serviceAnswers.keys).union((facts.freshAnswers ?? [:]).keys)
            .union((facts.claims?.rights ?? [:]).keys).union(grantsByNewPurchases.keys)
        for name in names {
            answers[name] = serviceAnswer(
                on: name, device: answers[name], newPurchase: grantsByNewPurchases[name],
                confirmedPurchase: confirmed[name])
        }
        return answers
    }

    // MARK: Decided on the device

    /// The answers of the app's policy about the evidence on this device. If the policy can't be read, the rights that
    /// an earlier start granted. Empty if the app has no policy.
    private var deviceAnswers: [String: Tenure.Answer] {
        guard let policy = facts.policy else { return facts.policyError == nil ? [:] : storedGrants }
        return answers(under: policy)
    }

    /// Returns a policy's answers about the evidence on this device.
    func answers(under policy: Policy) -> [String: Tenure.Answer] {
        let evidence = account.evidence(
            in: assumedEnvironment, purchasesAreComplete: snapshot.knowsPurchases, persona: facts.persona?.evidence)
        let decisions = decide(evidence, under: policy, at: stored.time.now(clock))
        let answers = zip(decisions, policy.entitlements).map { decision, entitlement in
            let answer = Tenure.Answer(decision, in: setup.options.languages)
            return decision.outcome == .denied && !isComplete(for: entitlement)
                ? answer.undetermined(because: .notAnswered, title: title(of: decision.entitlement)) : answer
        }
        return Self.byEntitlement(answers)
    }

    private static func byEntitlement(_ answers: [Tenure.Answer]) -> [String: Tenure.Answer] {
        Dictionary(answers.map { ($0.entitlement, $0) }) { first, _ in first }
    }

    /// The environment of this copy of the app. Until it is known, it is derived from how the app was installed.
    private var assumedEnvironment: AppStoreEnvironment {
        account.environment ?? facts.distribution.environment(of: nil)
    }

    /// Rights that an earlier start granted under a policy that can't be read now.
    private var storedGrants: [String: Tenure.Answer] {
        let now = stored.time.now(clock)
        return account.grantedByDevice.filter { $0.value.until.map { now < $0 } ?? true }
            .mapValues { .kept($0.entitlement, title: title(of: $0.entitlement), until: $0.until) }
    }

    /// Whether all sources that could grant the entitlement were read since the app started.
    private func isComplete(for entitlement: Entitlement) -> Bool {
        let knowsApp =
            snapshot.appTransaction != nil || entitlement.honors == nil || !facts.distribution.hasAppTransaction
        let knowsPurchases = snapshot.knowsPurchases || entitlement.products.isEmpty
        // If the clock is behind the latest time that the device has observed, either time may be wrong. So don't deny.
        return knowsApp && knowsPurchases && !stored.time.isTurnedBack(clock)
    }

    // MARK: Decided by the service

    /// Returns what the purchases with these transaction IDs grant by the app's policy or by the stored list of the
    /// service's products.
    ///
    /// These grants are used until the service has answered, so that an outage of the service takes nothing from a
    /// customer who has paid.
    private func grants(by transactions: Set<String>) -> [String: Tenure.Answer] {
        guard !transactions.isEmpty else { return [:] }
        let evidence = account.evidence(in: assumedEnvironment, of: transactions)
        var answers: [String: Tenure.Answer] = [:]
        // The catalog may contain a product that is newer than the app's policy.
        for policy in [facts.policy, stored.catalog?.catalog?.policy].compactMap(\.self) {
            for decision in decide(evidence, under: policy, at: stored.time.now(clock))
            where decision.outcome == .granted {
                let answer = Tenure.Answer(decision, in: setup.options.languages)
                if answer.lastsLonger(than: answers[answer.entitlement]) { answers[answer.entitlement] = answer }
            }
        }
        return answers
    }

    /// What the verified purchases grant that the service has confirmed without a signed token. The service signs only
    /// if it gets the app transaction, which isn't always available. Empty if the service granted nothing.
    private var grantsByConfirmedPurchases: [String: Tenure.Answer] {
        guard (facts.freshAnswers ?? account.serviceAnswers).values.contains(where: { $0.outcome == .granted }) else {
            return [:]
        }
        return grants(by: Set(account.purchases.map(\.transactionID)).subtracting(account.refusedTransactions))
    }

    /// Returns the answer about one entitlement for a client with a service: the first answer in this list that exists.
    ///
    /// 1. The right in the entitlement token, or the grant of a new purchase if it lasts longer.
    /// 2. The service's answer about the current evidence, unless it is a grant that has ended. Without a token, the
    ///    service's grants are unsigned, so the device uses a grant only if evidence on the device confirms it. The
    ///    device uses a denial only if everything that could grant the entitlement was sent. Otherwise the answer is
    ///    undetermined.
    /// 3. A grant by the device, or by purchases that the service confirmed before, unless a denial is stored.
    /// 4. An undetermined answer.
    private func serviceAnswer(
        on name: String, device: Tenure.Answer?, newPurchase: Tenure.Answer?, confirmedPurchase: Tenure.Answer?
    ) -> Tenure.Answer {
        let signed = signedAnswer(on: name)
        if let newPurchase, newPurchase.lastsLonger(than: signed) { return newPurchase }
        if let signed { return signed }
        let deviceGrant = device?.outcome == .granted ? device : nil
        if let fresh = facts.freshAnswers?[name] {
            switch fresh.outcome {
            // Ignore a right that has ended in the meantime.
            case .granted where fresh.until.map { $0 <= stored.time.now(clock) } ?? false: break
            case .granted:
                return deviceGrant ?? confirmedPurchase
                    ?? .unanswered(name, title: title(of: name), because: .unsigned, keeping: fresh.reasons)
            // A denial isn't definite if some artifacts couldn't be sent to the service.
            case .denied:
                return account.sentEverything
                    ? fresh : fresh.undetermined(because: .notAnswered, title: title(of: name))
            case .undetermined: return fresh
            }
        }
        // Until the service answers, use what the device proves. But keep a denial by the service: support may have
        // revoked the entitlement.
        if !account.denials.contains(name) {
            if let deviceGrant { return deviceGrant }
            if let confirmedPurchase, account.serviceAnswers[name]?.outcome == .granted { return confirmedPurchase }
        }
        return .unanswered(
            name, title: title(of: name), keeping: account.serviceAnswers[name]?.reasons ?? device?.reasons ?? [])
    }

    /// Returns the granted answer of the service's signed entitlement token, which is also valid offline. Nil if the
    /// token doesn't grant the entitlement, or if that right has ended.
    private func signedAnswer(on name: String) -> Tenure.Answer? {
        let now = stored.time.now(clock)
        guard let right = facts.claims?.rights[name], right.until.map({ now < $0 }) ?? true else { return nil }
        if let answer = facts.freshAnswers?[name] ?? account.serviceAnswers[name], answer.outcome == .granted,
            answer.until == right.until
        {
            return answer
        }
        return .kept(name, title: title(of: name), until: right.until)
    }

    // MARK: The grace period

    /// The end of the grace period, in which undetermined entitlements are allowed. It begins with the app's first
    /// start on this device. Nil if there is no grace period.
    private var graceEnds: Date? {
        guard let seconds = setup.grace(under: facts.policy, facts.policyError) else { return nil }
        return stored.time.now(clock).addingTimeInterval(seconds - stored.time.age(clock))
    }

    /// The entitlement's title. Nil if the app's policy has no title for it.
    func title(of entitlement: String) -> String? {
        facts.policy?.entitlement(named: entitlement)?.title?.text(for: setup.options.languages)
    }
}

extension Tenure.Answer {
    /// Whether this granted right ends later than another right. True if there is no other right.
    fileprivate func lastsLonger(than other: Tenure.Answer?) -> Bool {
        guard let other else { return true }
        guard let end = other.until else { return false }
        return until.map { $0 > end } ?? true
    }
}
