import Foundation

/// A token that gives access to the service's API for a limited time.
struct AccessToken: Sendable, Hashable {
    let value: String
    /// The time when the token expires, by this device's clock.
    let expiresAt: Date
}
