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
