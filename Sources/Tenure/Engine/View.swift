import Foundation
import TenureCore

/// What follows from all that is known at one moment.
///
/// Granted is what was proved, now or before. Denied is only what was looked for everywhere since the app started; all else
/// is undetermined, and the last good answer stands behind it.
struct View {
    let setup: Setup
    let policy: Policy?
    let memory: StoredState
    let reading: Reading
    let claims: CertificateClaims?
    let fresh: [String: Tenure.Answer]?
    let isComplete: Bool
    let clock: Date
    var lists = VersionRights()
    var heals = 0
    /// Whether the service was told of everything that could grant something.
    var toldAll = false

    private var account: Account { memory.account }
    private var distribution: Distribution { setup.access.distribution }
    private var isOutside: Bool { !distribution.hasPurchases }

    var notice: Board.Notice {
        let answers = answers
        return Board.Notice(
            customer: Tenure.Customer(
                answers: answers, acquisition: account.acquisition, environment: environment,
                distribution: distribution, steps: reading.steps, isComplete: isComplete),
            floor: memory.time.now(clock), heals: heals, patienceEnds: patienceEnds, denials: account.denials,
            allowsEverything: setup.isListening || (isOutside && setup.options.outsideAppStore == .allow),
            hasNoPatience: isOutside && setup.options.outsideAppStore == .deny)
    }

    /// Where this copy of the app lives, as far as that is known.
    var environment: AppStoreEnvironment? {
        account.environment
    }

    var answers: [String: Tenure.Answer] {
        guard !lists.isEmpty, !setup.isListening, !isOutside else { return provedAnswers }
        return answers(addingTo: provedAnswers)
    }

    /// By the policy and by the service.
    private var provedAnswers: [String: Tenure.Answer] {
        guard !setup.isListening else { return [:] }
        if isOutside {
            return named(policy?.entitlements.map(\.name) ?? []) {
                .unanswered($0, because: .outsideAppStore, distribution.rawValue, settlements: [.support])
            }
        }
        var answers = deviceAnswers
        guard setup.service != nil else { return answers }
        let names = Set(answers.keys).union(account.told.keys).union(fresh?.keys.map { $0 } ?? [])
            .union(claims?.rights.keys.map { $0 } ?? [])
        for name in names { answers[name] = serviceAnswer(on: name, device: answers[name]) }
        return answers
    }

    // MARK: Decided here

    /// The same rules as the service has, over what this device has seen.
    private var deviceAnswers: [String: Tenure.Answer] {
        guard let policy else { return [:] }
        let environment = environment ?? distribution.environment(of: nil)
        let evidence = account.evidence(in: environment, purchasesAreComplete: reading.knowsPurchases)
        let decisions = decide(evidence, under: policy, at: memory.time.now(clock))
        var answers: [String: Tenure.Answer] = [:]
        for (decision, entitlement) in zip(decisions, policy.entitlements) {
            let answer = Tenure.Answer(decision)
            answers[decision.entitlement] =
                decision.outcome == .denied && !isWhole(for: entitlement)
                ? answer.demoted(because: .notAnswered) : answer
        }
        return answers
    }

    /// Whether everything was seen since the app started that could give this.
    private func isWhole(for entitlement: Entitlement) -> Bool {
        let knowsApp =
            reading.appTransaction != nil || entitlement.honours == nil || !distribution.hasAppTransaction
        let knowsPurchases = reading.knowsPurchases || entitlement.products.isEmpty
        // A clock that says less than is known may have been wrong before as well as now.
        return knowsApp && knowsPurchases && !memory.time.isTurnedBack(clock)
    }

    // MARK: Told by the service

    private func serviceAnswer(on name: String, device: Tenure.Answer?) -> Tenure.Answer {
        let now = memory.time.now(clock)
        if let right = claims?.rights[name], right.until.map({ now < $0 }) ?? true {
            if let told = fresh?[name] ?? account.told[name], told.outcome == .granted, told.until == right.until {
                return told
            }
            return .kept(name, until: right.until)
        }
        if let told = fresh?[name] {
            switch told.outcome {
            case .granted: return .unanswered(name, because: .unsigned, keeping: told.reasons)
            // It cannot know what could not be sent.
            case .denied: return toldAll ? told : told.demoted(because: .notAnswered)
            case .undetermined: return told
            }
        }
        // What the device proves by itself, under the policy that it brought, until the service says more.
        // What it denied stays denied, though this device's own policy may say otherwise: support can have taken it.
        if let device, device.outcome == .granted, !account.denials.contains(name) { return device }
        return .unanswered(name, keeping: account.told[name]?.reasons ?? device?.reasons ?? [])
    }

    // MARK: Patience

    private var patienceEnds: Date? {
        let patience = setup.options.whileUndetermined ?? policy?.whileUndetermined ?? .allow(72 * 3600)
        guard case .allow(let seconds) = patience else { return nil }
        return memory.time.now(clock).addingTimeInterval(seconds - memory.time.age(clock))
    }

    private func named(
        _ names: [String], _ answer: (String) -> Tenure.Answer
    ) -> [String: Tenure.Answer] {
        Dictionary(names.map { ($0, answer($0)) }) { first, _ in first }
    }
}
