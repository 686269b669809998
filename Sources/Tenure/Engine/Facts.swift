import Foundation
import TenureCore

/// Everything that the answers depend on, except for the stored state and what was read from the App Store.
struct Facts {
    var distribution = Tenure.Distribution.appStore
    /// The test customer. Nil in every copy from the App Store.
    var persona: Tenure.Persona?
    var policy: Policy?
    var policyError: Tenure.Error?
    /// The lists of versions that the app registered.
    var lists = Tenure.VersionRights()
    /// Products that unlock asset packs directly, without an entitlement.
    var contentProducts: Set<String> = []
    /// The claims of the stored entitlement token.
    var claims: EntitlementTokenClaims?
    /// The service's answers about the current evidence. Nil if the service wasn't asked, or didn't respond.
    var freshAnswers: [String: Tenure.Answer]?
    /// The time when the last search ended, by the device's clock. In a search, the engine asks the App Store, and the
    /// service if there is one. Nil until the first search since the app started has ended.
    var checkedAt: Date?
    /// How many searches have finished since the app started.
    var finishedSearches = 0
    var hasFinishedSearch: Bool { finishedSearches > 0 }
    /// How many times the clock was found to have been wrong.
    var clockCorrections = 0
    /// The number of times that another account replaced the known account.
    var accountChanges = 0

    init(_ policy: Result<Policy?, Tenure.Error>) {
        switch policy {
        case .success(let policy): self.policy = policy
        case .failure(let error): policyError = error
        }
    }
}
