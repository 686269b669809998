/// What can go wrong where the app asked for something to happen. Answers never throw.
public enum TenureError: Error, Sendable, Hashable {
    /// The customer closed the sign-in.
    case cancelled
    /// The App Store did not do it.
    case store(String)
    /// The service did not answer, or refused.
    case service(String)
    /// The device could not write it down.
    case notWritten(String)
    /// The policy cannot be read.
    case policy(String)
    /// Only the app can do it: not its extension, its App Clip or its watch app.
    case notHere(String)
    /// The text is no public key.
    case key(String)
    case noTrial(entitlement: String)
    case trialOver(entitlement: String)

    /// Whether the same may succeed a moment later.
    public var isRetryable: Bool {
        switch self {
        case .cancelled, .store, .service, .notWritten: true
        case .policy, .notHere, .key, .noTrial, .trialOver: false
        }
    }
}

extension TenureError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .cancelled: "the sign-in was closed; try again when the customer asks for it"
        case .store(let detail): "the App Store did not do it: \(detail); try again"
        case .service(let detail): "the service did not do it: \(detail); try again"
        case .notWritten(let detail): "the device could not write it down: \(detail)"
        case .policy(let detail): "the policy cannot be read: \(detail)"
        case .notHere(let detail): detail
        case .key(let detail):
            "the pinned key cannot be read: \(detail); take it from `GET /v1/keys` of your service when you build"
        case .noTrial(let entitlement): "the policy has no trial of `\(entitlement)`"
        case .trialOver(let entitlement): "the trial of `\(entitlement)` is used up"
        }
    }
}
