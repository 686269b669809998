// `import Tenure` is enough to use every type in the client's public interface. It does not export StoreKit.
import AppFramework
import Tenure

/// Ambiguous as soon as `Tenure` exports StoreKit.
func transaction() -> Transaction { Transaction() }

func isGranted(_ answer: Tenure.Answer) -> Bool {
    let outcome: Decision.Outcome = answer.outcome
    let nextSteps: [NextStep] = answer.nextSteps
    return outcome == .granted && !nextSteps.contains(.support)
}

func isMacPurchase(_ customer: Tenure.Customer) -> Bool {
    guard let acquisition: Acquisition = customer.acquisition else { return false }
    let platform: Platform? = acquisition.originalPlatform
    let environment: AppStoreEnvironment? = customer.environment
    return platform == .macOS && environment == .production
}

func lenient() -> Tenure.Options {
    var options = Tenure.Options()
    options.whileUndetermined = .allow(72 * 3600)
    return options
}

func months(_ period: CalendarPeriod) -> Int { period.months }

func trialSessions(_ catalog: Tenure.ProductCatalog) -> Int? {
    guard let trial: Trial = catalog.trial(of: "everything"), case .sessions(let count) = trial else { return nil }
    return count
}

/// A policy that the app makes itself.
func policySource() throws -> Tenure.PolicySource {
    let change: Beginning = .at(version: AppVersion("120"), date: nil)
    let paid = Era(name: "paid", model: .paid)
    let free = Era(name: "freemium", model: .free, begins: [.iOS: change])
    let everything = Entitlement(
        name: "everything", products: [.init(id: "com.example.calculator.everything")], honors: [Honor(era: "paid")],
        trial: .sessions(5))
    do {
        return .policy(
            try Policy(
                app: Policy.App(bundleID: "com.example.calculator"), eras: [paid, free],
                releases: [Release](), entitlements: [everything]))
    } catch let error as InvalidPolicy {
        throw error
    }
}
