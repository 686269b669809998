import Foundation
import TenureCore

/// Everything that the answers depend on, except for the stored state and what was read from the App Store.
struct Facts {
    /// How this copy of the app was installed.
    var distribution = Tenure.Distribution.appStore
    /// The test customer that replaces the real customer. Nil in every copy from the App Store.
    var persona: Tenure.Persona?
    /// The policy in use. Nil if the app has none, or if it can't be used.
    var policy: Policy?
    /// Why the policy can't be used. Nil if it can be, or if the app has no policy.
    var policyError: Tenure.Error?
    /// The versions and dates that the app registered with `Tenure.register`.
    var lists = Tenure.VersionRights()
    /// Products that unlock asset packs directly, without an entitlement.
    var contentProducts: Set<String> = []
    /// The contents of the stored entitlement token, which the service signed. Nil if there is no valid token.
    var claims: EntitlementTokenClaims?
    /// The service's answers about what the device has read from the App Store by now, by entitlement. Nil if the
    /// service wasn't asked since the app started, or didn't respond.
    var freshAnswers: [String: Tenure.Answer]?
    /// The time when the last search ended, by the device's clock. In a search, the engine asks the App Store, and the
    /// service if there is one. Nil until the first search since the app started has ended.
    var checkedAt: Date?
    /// How many searches have finished since the app started.
    var finishedSearches = 0
    var hasFinishedSearch: Bool { finishedSearches > 0 }
    /// How many times a newly signed value showed that the clock had been wrong.
    var clockCorrections = 0
    /// How many times another Apple Account replaced the known account.
    var accountChanges = 0

    /// - Parameter policy: the app's policy, or why it can't be used. A nil policy means that the app has none.
    init(_ policy: Result<Policy?, Tenure.Error>) {
        switch policy {
        case .success(let policy): self.policy = policy
        case .failure(let error): policyError = error
        }
    }
}
